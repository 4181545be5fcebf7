from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0004_record")]
    operations = [migrations.RunSQL(sql.read("0005_decisions.up.sql", prefix=settings.ROLE_PREFIX))]
