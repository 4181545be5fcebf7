import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0025_callbacks"),
    ]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="campaign_tools",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), db_default=[], default=list, size=None
            ),
        ),
        migrations.CreateModel(
            name="CalledCampaign",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("seq", models.IntegerField()),
                ("tool", models.TextField()),
                ("by_subject", models.BooleanField(db_default=False, default=False)),
                ("ordinal", models.IntegerField(null=True)),
                ("state", models.TextField(db_default="pending", default="pending")),
                ("why_payload_id", models.UUIDField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("settled_at", models.DateTimeField(null=True)),
                (
                    "run",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.run",
                    ),
                ),
                (
                    "version",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.version",
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
                        condition=models.Q(("state", "pending")),
                        fields=["workspace", "run", "seq"],
                        name="calledcampaign_pending",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "run", "seq"), name="calledcampaign_once"),
                    models.UniqueConstraint(
                        fields=("workspace", "run", "tool", "ordinal"), name="calledcampaign_ordinal_once"
                    ),
                ],
            },
        ),
        migrations.RunSQL(sql.read("0026_called.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
