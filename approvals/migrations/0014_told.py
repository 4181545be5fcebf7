from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0013_authority")]
    operations = [migrations.RunSQL(sql.read("0014_told.up.sql", prefix=settings.ROLE_PREFIX))]
