from django.conf import settings
from django.db import migrations

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0026_called"),
    ]

    operations = [
        migrations.RunSQL(sql.read("0027_new_secret.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
