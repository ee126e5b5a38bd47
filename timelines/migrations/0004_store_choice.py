from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):

    dependencies = [
        ("timelines", "0003_timeline_rows"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoreChoice",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("store", models.CharField(max_length=16)),
                ("chosen_at", models.DateTimeField(db_default=Now())),
            ],
        ),
    ]
