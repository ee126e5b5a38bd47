"""Rules in other languages."""

from django.db import migrations, models

from accounts.site_texts.models import check_translations


class Migration(migrations.Migration):
    dependencies = [("site_texts", "0003_contact")]

    operations = [
        migrations.AddField(
            "siterule",
            "translations",
            models.JSONField(
                null=True,
                blank=True,
                validators=[check_translations],
                help_text='In other languages: {"de": {"text": "Seid freundlich", "hint": ""}}',
            ),
        ),
    ]
