"""The permission of operators: nothing of the table changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_job_runs")]

    operations = [
        migrations.AlterModelOptions(
            name="jobrun",
            options={"permissions": [("operate", "Can see and use the pages of operators")]},
        ),
    ]
