from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0010_outcomes")]
    operations = [migrations.RunSQL(sql.read("0011_anchors.up.sql", prefix=settings.ROLE_PREFIX))]
