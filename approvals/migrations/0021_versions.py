import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from approvals import sql

# What there is was proposed once each. The owner is bound to a workspace like everybody, and nothing sealed changes:
# for this one statement neither holds.
_HAND_DOWN = """
alter table approvals_campaign no force row level security;
alter table approvals_version no force row level security, disable trigger version_sealed;
update approvals_version v set body_digest = c.body_digest, created_at = c.created_at from approvals_campaign c
where c.workspace_id = v.workspace_id and c.id = v.campaign_id;
alter table approvals_version force row level security, enable trigger version_sealed;
alter table approvals_campaign force row level security;
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0020_datasets")]

    operations = [
        migrations.AddField(
            model_name="version",
            name="body_digest",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="version",
            name="created_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
        ),
        migrations.AddField(
            model_name="version",
            name="drawn_from",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="version",
            name="proposer_id",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="version",
            name="proposer_kind",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="version",
            name="proposer_name",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.RunSQL(_HAND_DOWN),
        migrations.RemoveField(model_name="campaign", name="body_digest"),
        migrations.AddConstraint(
            model_name="version",
            constraint=models.UniqueConstraint(
                condition=models.Q(("digest", ""), _negated=True),
                fields=("workspace", "campaign", "digest"),
                name="version_digest_once",
            ),
        ),
        migrations.RunSQL(sql.read("0021_versions.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
