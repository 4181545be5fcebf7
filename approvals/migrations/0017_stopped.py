from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0016_observed")]
    operations = [migrations.RunSQL(sql.read("0017_stopped.up.sql", prefix=settings.ROLE_PREFIX))]
