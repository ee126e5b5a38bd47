"""Decisions on images."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("moderation", "0001_initial")]

    operations = [
        migrations.AddField("decision", "image_id", models.BigIntegerField(null=True)),
        migrations.AddIndex(
            "decision",
            models.Index(
                fields=["image_id", "-id"],
                name="decision_on_image",
                condition=models.Q(image_id__isnull=False),
            ),
        ),
    ]
