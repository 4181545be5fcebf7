from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0012_restore")]
    operations = [migrations.RunSQL(sql.read("0013_authority.up.sql", prefix=settings.ROLE_PREFIX))]
