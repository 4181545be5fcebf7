import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0015_told"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentSession",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("app", models.TextField()),
                ("user", models.TextField()),
                ("session", models.TextField()),
                ("updated_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Observation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("lease_until", models.DateTimeField(null=True)),
                ("fence", models.BigIntegerField(db_default=0, default=0)),
                ("trouble", models.TextField(blank=True, db_default="", default="")),
                ("notice", models.TextField(blank=True, db_default="", default="")),
                ("troubled_since", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("version", models.TextField(blank=True, db_default="", default="")),
                ("facts", models.JSONField(db_default={}, default=dict)),
                ("asked_at", models.DateTimeField(null=True)),
                ("changed_until", models.DateTimeField(null=True)),
                ("pass_after", models.JSONField(null=True)),
                ("pass_began_at", models.DateTimeField(null=True)),
                ("pass_done", models.BigIntegerField(db_default=0, default=0)),
                ("pass_total", models.BigIntegerField(db_default=0, default=0)),
                ("pass_ended_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="StoredRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("event_id", models.TextField()),
                ("invocation_id", models.TextField()),
                ("at", models.DateTimeField()),
                ("digest", models.BinaryField(max_length=32, null=True)),
                ("ends", models.TextField(blank=True, default="")),
                ("answers", models.BooleanField(default=False)),
                ("deleted_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="runtime",
            name="database_url",
            field=models.BinaryField(db_default=b"", default=b""),
        ),
        migrations.AddField(
            model_name="runtime",
            name="hides_calls",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("session_id", ""), _negated=True),
                fields=["workspace", "session_id", "created_at"],
                name="run_session",
            ),
        ),
        migrations.AddField(
            model_name="agentsession",
            name="runtime",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="approvals.runtime",
            ),
        ),
        migrations.AddField(
            model_name="agentsession",
            name="workspace",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="approvals.workspace",
            ),
        ),
        migrations.AddField(
            model_name="observation",
            name="runtime",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="approvals.runtime",
            ),
        ),
        migrations.AddField(
            model_name="observation",
            name="workspace",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="approvals.workspace",
            ),
        ),
        migrations.AddField(
            model_name="storedrow",
            name="run",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="approvals.run",
            ),
        ),
        migrations.AddField(
            model_name="storedrow",
            name="session",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="approvals.agentsession",
            ),
        ),
        migrations.AddField(
            model_name="storedrow",
            name="workspace",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="approvals.workspace",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentsession",
            constraint=models.UniqueConstraint(
                fields=("workspace", "runtime", "app", "user", "session"), name="agentsession_once"
            ),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(fields=["due_at"], name="observation_due"),
        ),
        migrations.AddConstraint(
            model_name="observation",
            constraint=models.UniqueConstraint(
                fields=("workspace", "runtime"), name="observation_once_per_runtime"
            ),
        ),
        migrations.AddConstraint(
            model_name="storedrow",
            constraint=models.UniqueConstraint(
                fields=("workspace", "session", "event_id"), name="storedrow_once"
            ),
        ),
        migrations.RunSQL(sql.read("0016_observed.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
