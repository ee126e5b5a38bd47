"""An account can hide its followers and its followees from others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_pictures")]

    operations = [
        migrations.AddField("account", "hides_collections", models.BooleanField(db_default=False)),
    ]
