from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0007_isolation")]
    operations = [migrations.RunSQL(sql.read("0008_readers.up.sql", prefix=settings.ROLE_PREFIX))]
