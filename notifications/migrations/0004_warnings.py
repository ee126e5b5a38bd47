"""Notifications of decisions of the moderators."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0003_quotes")]

    operations = [
        migrations.AlterField(
            "notification",
            "kind",
            models.SmallIntegerField(
                choices=[
                    (1, "MENTION"), (2, "FOLLOW"), (3, "FOLLOW_REQUEST"), (4, "FAVOURITE"),
                    (5, "REBLOG"), (6, "STATUS"), (7, "POLL"), (8, "QUOTE"), (9, "QUOTED_UPDATE"),
                    (0, "MODERATION_WARNING"),
                ]
            ),
        ),
    ]
