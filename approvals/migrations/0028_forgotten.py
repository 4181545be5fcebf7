from django.conf import settings
from django.db import migrations, models

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0027_new_secret")]
    operations = [
        migrations.AddField("dataset", "file_erased_at", models.DateTimeField(null=True)),
        migrations.AddField("datasetrow", "erased_at", models.DateTimeField(null=True)),
        migrations.RemoveConstraint("datasetrow", "datasetrow_first_wins"),
        migrations.AddConstraint(
            "datasetrow",
            models.UniqueConstraint(
                fields=("workspace", "dataset", "dedupe_key"),
                condition=models.Q(("erased_at", None), ("state__in", ["addressable", "suppressed"])),
                name="datasetrow_first_wins",
            ),
        ),
        migrations.RunSQL(sql.read("0028_forgotten.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
