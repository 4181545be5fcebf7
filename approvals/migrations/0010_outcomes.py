from django.conf import settings
from django.db import migrations, models

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0009_search")]
    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["workspace", "external_id"], name="run_external_id"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                fields=["workspace", "call_id"],
                condition=models.Q(("type", "tool_call")),
                name="event_call",
            ),
        ),
        migrations.RunSQL(sql.read("0010_outcomes.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
