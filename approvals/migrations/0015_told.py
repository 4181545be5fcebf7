from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0014_records")]
    operations = [migrations.RunSQL(sql.read("0015_told.up.sql", prefix=settings.ROLE_PREFIX))]
