import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0022_faster_sending"),
    ]

    operations = [
        migrations.CreateModel(
            name="Attachment",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("sha256", models.TextField()),
                ("size", models.IntegerField()),
                ("content_type", models.TextField()),
                ("looks_like", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
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
            name="VersionAttachment",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("position", models.SmallIntegerField()),
                ("filename", models.TextField()),
                ("content_type", models.TextField()),
                (
                    "attachment",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="approvals.attachment",
                    ),
                ),
                (
                    "version",
                    approvals.models.base.Reference(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="attachments",
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
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.UniqueConstraint(
                fields=("workspace", "sha256", "runtime"), name="attachment_once", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="versionattachment",
            constraint=models.UniqueConstraint(
                fields=("workspace", "version", "position"), name="versionattachment_position_once"
            ),
        ),
        migrations.RunSQL(sql.read("0023_attachments.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
