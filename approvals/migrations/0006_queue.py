from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0005_decisions")]
    operations = [migrations.RunSQL(sql.read("0006_queue.up.sql", prefix=settings.ROLE_PREFIX))]
