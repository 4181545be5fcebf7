from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]
    operations = [migrations.RunSQL(sql.read("0002_integrity.up.sql", prefix=settings.ROLE_PREFIX))]
