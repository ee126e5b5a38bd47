"""The account to write to. A new column with a default of the database: no rewrite."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("site_texts", "0002_reasons")]

    operations = [
        migrations.AddField(
            model_name="sitetexts",
            name="contact",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="A username. Clients show this account as the one to write to.",
                max_length=30,
                verbose_name="account of the contact",
            ),
        )
    ]
