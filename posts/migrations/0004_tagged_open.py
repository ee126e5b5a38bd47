"""Unlisted posts count among the tags of their author. The new index is made while people write."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("posts", "0003_image_texts")]

    operations = [
        AddIndexConcurrently(
            model_name="post",
            index=models.Index(
                fields=["author_id", "-moment"],
                name="post_tagged_open",
                condition=models.Q(deleted_at=None, tags__isnull=False, visibility__lt=2),
            ),
        ),
        RemoveIndexConcurrently(model_name="post", name="post_tagged"),
    ]
