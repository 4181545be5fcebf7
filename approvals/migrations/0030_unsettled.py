from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0029_version_of_a_job")]
    operations = [
        migrations.AddIndex(
            "delivery",
            models.Index(
                condition=models.Q(("resolved_at", None), ("state__in", ["in_doubt", "failed"])),
                fields=["workspace", "campaign", "state"],
                name="delivery_unsettled",
            ),
        ),
    ]
