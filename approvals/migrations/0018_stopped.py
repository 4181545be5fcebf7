from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0017_without_plain_indexes")]
    operations = [migrations.RunSQL(sql.read("0018_stopped.up.sql", prefix=settings.ROLE_PREFIX))]
