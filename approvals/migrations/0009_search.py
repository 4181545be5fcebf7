from django.conf import settings
from django.db import migrations, models

from approvals import sql

# The SQL fills the columns of what is there before it says that they are never empty.
TOOLS = [
    migrations.RemoveConstraint("runtool", "run_tool_once"),
    migrations.AddField("runtool", "tab", models.TextField(default=None), preserve_default=False),
    migrations.AddField("runtool", "since", models.DateTimeField(default=None), preserve_default=False),
    migrations.AddField("runtool", "due", models.DateTimeField(default=None), preserve_default=False),
    migrations.AddConstraint(
        "runtool",
        models.UniqueConstraint(fields=("workspace", "lineage_id", "name"), name="run_tool_once"),
    ),
]
BY_BEGINNING = ["uuid_ops", "text_pattern_ops"]
INDEXES = {
    "runtool": [
        models.Index(
            fields=["workspace", "name", "tab", "due", "since", "lineage_id"], name="run_tool_order"
        ),
        models.Index(fields=["workspace", "name", "-since", "-lineage_id"], name="run_tool_history"),
    ],
    "queueitem": [
        models.Index(fields=["workspace", "agent", "-since", "-id"], name="queue_agent_history"),
        models.Index(fields=["workspace", "kind", "-since", "-id"], name="queue_kind_history"),
        models.Index(fields=["workspace", "subject", "-since", "-id"], name="queue_subject"),
    ],
    "delivery": [
        models.Index(fields=["workspace", "dedupe_key"], opclasses=BY_BEGINNING, name="delivery_recipient"),
        models.Index(fields=["workspace", "message_id"], opclasses=BY_BEGINNING, name="delivery_message"),
    ],
    "campaign": [
        models.Index(fields=["workspace", "run"], condition=models.Q(run__isnull=False), name="campaign_run")
    ],
    "decision": [
        models.Index(fields=["workspace", "kind", "seq"], name="decision_kind"),
        models.Index(fields=["workspace", "agent", "seq"], name="decision_agent"),
        models.Index(fields=["workspace", "actor_kind", "actor_id", "seq"], name="decision_actor"),
        models.Index(fields=["workspace", "at"], name="decision_at"),
    ],
}


class Migration(migrations.Migration):
    dependencies = [("approvals", "0008_readers")]
    operations = [
        migrations.RemoveIndex("runtool", "run_tool_name"),
        migrations.RemoveIndex("delivery", "delivery_address"),
        migrations.RemoveIndex("delivery", "delivery_message_id"),
        migrations.RunSQL(
            sql.read("0009_search.up.sql", prefix=settings.ROLE_PREFIX), state_operations=TOOLS
        ),
        *(migrations.AddIndex(model, index) for model, indexes in INDEXES.items() for index in indexes),
    ]
