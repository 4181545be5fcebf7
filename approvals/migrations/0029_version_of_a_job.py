from django.conf import settings
from django.db import migrations, models

import approvals.models.base
from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0028_forgotten")]
    operations = [
        migrations.AddField(
            model_name="job",
            name="version",
            field=approvals.models.base.Reference(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=models.DO_NOTHING,
                related_name="+",
                to="approvals.version",
            ),
        ),
        migrations.RunSQL(sql.read("0029_version_of_a_job.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
