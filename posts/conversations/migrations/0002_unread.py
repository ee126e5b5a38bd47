"""Unread conversations are read by an index. It is made while people write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                fields=["owner_id", "-last_second", "-last_author", "-last_sequence"],
                name="conversation_unread",
                condition=models.Q(is_unread=True),
            ),
        ),
    ]
