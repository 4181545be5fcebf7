from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0002_integrity")]
    operations = [migrations.RunSQL(sql.read("0003_journal.up.sql", prefix=settings.ROLE_PREFIX))]
