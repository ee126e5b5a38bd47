"""Accounts choose which accounts may quote their new posts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_user_language")]

    operations = [
        migrations.AddField(
            "account",
            "default_quote_policy",
            models.CharField(db_default="public", max_length=10),
        ),
    ]
