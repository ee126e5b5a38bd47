"""Accounts choose which replies of their followees their home timelines show."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_former_names")]

    operations = [
        migrations.AddField(
            "account",
            "home_replies",
            models.CharField(db_default="followed", max_length=10),
        ),
    ]
