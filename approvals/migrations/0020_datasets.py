import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0019_sending"),
    ]

    operations = [
        migrations.CreateModel(
            name="Dataset",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.TextField()),
                ("sha256", models.TextField()),
                ("size", models.BigIntegerField()),
                ("encoding", models.TextField()),
                ("delimiter", models.TextField()),
                ("columns", models.JSONField()),
                ("address_column", models.TextField()),
                ("by_name", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("lease_until", models.DateTimeField(null=True)),
                ("fence", models.BigIntegerField(db_default=0, default=0)),
                ("notice", models.TextField(blank=True, db_default="", default="")),
                ("total", models.PositiveIntegerField(null=True)),
                ("addressable", models.PositiveIntegerField(db_default=0, default=0)),
                ("duplicate", models.PositiveIntegerField(db_default=0, default=0)),
                ("suppressed", models.PositiveIntegerField(db_default=0, default=0)),
                ("refused", models.PositiveIntegerField(db_default=0, default=0)),
                ("formulas", models.PositiveIntegerField(db_default=0, default=0)),
                ("trouble", models.TextField(blank=True, db_default="", default="")),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "runtime",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.runtime",
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
        ),
        migrations.CreateModel(
            name="DatasetRow",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "dataset_id",
                        "position",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("email", models.TextField()),
                ("address", models.TextField(blank=True)),
                ("dedupe_key", models.TextField(blank=True, db_collation="C")),
                ("vars", models.TextField()),
                ("state", models.TextField()),
                ("reason", models.TextField(blank=True)),
                ("formula", models.BooleanField()),
                ("unfit", models.TextField(blank=True)),
                (
                    "dataset",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.dataset",
                    ),
                ),
                (
                    "workspace",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.workspace",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Suppression",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("scope", models.TextField(blank=True, default="")),
                ("dedupe_key", models.TextField(db_collation="C")),
                ("reason", models.TextField()),
                ("source", models.TextField(blank=True, default="")),
                (
                    "at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("released_at", models.DateTimeField(null=True)),
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
        ),
        migrations.AddIndex(
            model_name="dataset",
            index=models.Index(fields=["workspace", "-created_at"], name="dataset_newest"),
        ),
        migrations.AddIndex(
            model_name="dataset",
            index=models.Index(condition=models.Q(("ended_at", None)), fields=["due_at"], name="dataset_due"),
        ),
        migrations.AddConstraint(
            model_name="dataset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("trouble", "")),
                fields=("workspace", "runtime", "sha256", "encoding", "address_column"),
                name="dataset_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddIndex(
            model_name="datasetrow",
            index=models.Index(
                condition=models.Q(("state__in", ["duplicate", "suppressed", "refused"])),
                fields=["workspace", "dataset", "state", "position"],
                name="datasetrow_excluded",
            ),
        ),
        migrations.AddConstraint(
            model_name="datasetrow",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["addressable", "suppressed"])),
                fields=("workspace", "dataset", "dedupe_key"),
                name="datasetrow_first_wins",
            ),
        ),
        migrations.AddIndex(
            model_name="suppression",
            index=models.Index(fields=["workspace", "-at"], name="suppression_newest"),
        ),
        migrations.AddConstraint(
            model_name="suppression",
            constraint=models.UniqueConstraint(
                condition=models.Q(("released_at", None)),
                fields=("workspace", "dedupe_key", "scope"),
                name="suppression_once",
            ),
        ),
        migrations.RunSQL(sql.read("0020_datasets.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
