from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("sharding", "0002_pulses")]

    operations = [
        migrations.CreateModel(
            name="Shard",
            fields=[
                (
                    "alias",
                    models.CharField(max_length=32, primary_key=True, serialize=False),
                ),
                ("added_at", models.DateTimeField(db_default=Now())),
            ],
        ),
    ]
