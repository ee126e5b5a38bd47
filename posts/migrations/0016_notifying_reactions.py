"""Reactions notify the author of the post. Those that were declared before are silent until they are declared again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("posts", "0015_reactions")]

    operations = [
        migrations.AddField("reaction", "notifies_from_ms", models.BigIntegerField(null=True)),
    ]
