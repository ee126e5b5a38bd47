"""Reasons that moderators choose from. A new column with a default of the database: no rewrite."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("site_texts", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="sitetexts",
            name="reasons",
            field=models.TextField(
                blank=True,
                db_default="",
                help_text="One a line. The pages of moderators suggest them. Accounts can read"
                " the reason of a decision about them.",
                max_length=10_100,
                verbose_name="reasons of moderators",
            ),
        )
    ]
