"""When the account got its mail about a decision."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("moderation", "0006_checksum_of_joint_decisions")]

    operations = [
        migrations.AddField(
            "decision", "mailed_at", models.DateTimeField(editable=False, null=True)
        ),
    ]
