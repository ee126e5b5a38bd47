"""A change waits for an earlier one of its post that is tried again. The index is made while people
write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("changes", "0003_filing_order")]

    operations = [
        AddIndexConcurrently(
            model_name="change",
            index=models.Index(
                fields=["owner_id"],
                name="change_failed",
                condition=models.Q(state=0) & ~models.Q(error=""),
            ),
        ),
    ]
