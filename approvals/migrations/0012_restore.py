from django.conf import settings
from django.db import migrations, models

from approvals import sql


class Migration(migrations.Migration):
    dependencies = [("approvals", "0011_anchors")]
    operations = [
        migrations.CreateModel(
            name="Place",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("system", models.BigIntegerField()),
                ("timeline", models.IntegerField()),
                ("database", models.BigIntegerField()),
                ("relation", models.BigIntegerField()),
                ("restoring_since", models.DateTimeField(null=True)),
                ("restored_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="audiencerow", name="erased_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(kind="replay", status__in=["running", "in_doubt", "paused"]),
                fields=["run"],
                name="job_following",
            ),
        ),
        migrations.RunSQL(sql.read("0012_restore.up.sql", prefix=settings.ROLE_PREFIX)),
    ]
