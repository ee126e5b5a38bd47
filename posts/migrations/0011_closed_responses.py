"""The kinds of responses include those that not all may see. No SQL."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("posts", "0010_waiting_images")]

    operations = [
        migrations.AlterField(
            "response",
            "kind",
            models.SmallIntegerField(
                choices=[
                    (1, "REPLY"),
                    (2, "REPOST"),
                    (3, "FAVOURITE"),
                    (7, "CLOSED_REPLY"),
                    (9, "QUOTE"),
                    (10, "CLOSED_QUOTE"),
                ]
            ),
        ),
    ]
