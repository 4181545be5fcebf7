from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0018_stopped")]
    operations = [
        migrations.AddField(
            model_name="workspace",
            name="messages_per_minute",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="workspace",
            name="next_message_at",
            field=models.DateTimeField(null=True),
        ),
    ]
