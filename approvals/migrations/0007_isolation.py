from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0006_queue")]
    operations = [migrations.RunSQL(sql.read("0007_isolation.up.sql", prefix=settings.ROLE_PREFIX))]
