"""Keys of up to 255 characters, and the function that says which images wait. No row is rewritten."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("scheduled_posts", "0001_initial")]

    operations = [
        migrations.AlterField(
            "scheduledpost", "key", models.CharField(blank=True, db_default="", max_length=255)
        ),
        migrations.RunSQL(functions_of("scheduled_posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
