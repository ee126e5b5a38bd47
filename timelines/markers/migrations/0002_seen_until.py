"""A marker also says up to when its account has seen what arrived."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("markers", "0001_initial")]

    operations = [
        migrations.AddField("marker", "seen_ms", models.BigIntegerField(null=True)),
    ]
