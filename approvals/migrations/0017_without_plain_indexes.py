import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from approvals import sql

MODELS = (
    "audiencerow",
    "campaign",
    "decision",
    "delivery",
    "event",
    "job",
    "member",
    "payload",
    "queueitem",
    "run",
    "runtime",
    "runtool",
    "token",
    "version",
)


FIELDS = [
    migrations.AlterField(
        model,
        "workspace",
        models.ForeignKey(
            db_index=False,
            on_delete=django.db.models.deletion.PROTECT,
            related_name="+",
            to="approvals.workspace",
        ),
    )
    for model in MODELS
]


class Migration(migrations.Migration):
    dependencies = [("approvals", "0016_observed")]
    operations = [
        migrations.RunSQL(  # Django would make each foreign key anew to drop an index
            sql.read("0017_without_plain_indexes.up.sql", prefix=settings.ROLE_PREFIX),
            state_operations=FIELDS,
        ),
        migrations.RemoveIndex("run", "run_silent"),
        migrations.RemoveIndex("run", "run_overlong"),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["workspace", "replay_of"],
                condition=models.Q(replay_of__isnull=False),
                name="run_replay_of",
            ),
        ),
        *(
            migrations.AddIndex(
                "run",
                models.Index(
                    fields=[timer],
                    condition=models.Q(**{"status": "running", f"{timer}__isnull": False}),
                    name=name,
                ),
            )
            for name, timer in (("run_silent", "silent_after"), ("run_overlong", "overlong_after"))
        ),
    ]
