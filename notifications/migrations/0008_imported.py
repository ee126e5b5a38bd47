"""Up to when imports brought the history of an account."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0007_reactions")]

    operations = [
        migrations.AddField("inbox", "imported_ms", models.BigIntegerField(db_default=0)),
    ]
