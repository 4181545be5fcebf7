from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0003_journal")]
    operations = [migrations.RunSQL(sql.read("0004_record.up.sql", prefix=settings.ROLE_PREFIX))]
