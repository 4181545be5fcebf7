from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0023_attachments")]
    operations = [
        migrations.AddField(
            model_name="job",
            name="sample",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=models.DO_NOTHING,
                related_name="+",
                to="approvals.delivery",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(sample__isnull=False), fields=["workspace", "sample"], name="job_sample"
            ),
        ),
        migrations.RunSQL(sql.read("0024_trials.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
