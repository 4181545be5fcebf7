from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0021_versions")]
    operations = [migrations.RunSQL(sql.read("0022_faster_sending.up.sql", prefix=settings.ROLE_PREFIX))]
