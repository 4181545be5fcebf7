import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0024_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="callback_url",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.CreateModel(
            name="Callback",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField()),
                ("type", models.TextField()),
                ("body", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("status", models.TextField(db_default="waiting", default="waiting")),
                ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("lease_until", models.DateTimeField(null=True)),
                ("fence", models.BigIntegerField(db_default=0, default=0)),
                ("answer", models.TextField(blank=True, db_default="", default="")),
                ("told_at", models.DateTimeField(null=True)),
                (
                    "campaign",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.campaign",
                    ),
                ),
                (
                    "decision",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.decision",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "waiting")), fields=["due_at"], name="callback_due"
                    ),
                    models.Index(
                        condition=models.Q(("status", "given_up")),
                        fields=["workspace", "campaign"],
                        name="callback_given_up",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "campaign", "number"), name="callback_order")
                ],
            },
        ),
        migrations.RunSQL(sql.read("0025_callbacks.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
