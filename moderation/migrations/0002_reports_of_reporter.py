"""People read their own reports by an index. It is made while people report."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("moderation", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="report",
            index=models.Index(fields=["reporter_id", "-id"], name="report_of_reporter"),
        ),
    ]
