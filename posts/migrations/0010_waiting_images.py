"""Posts take no image that waits with a scheduled post, and keys have up to 255 characters."""

from django.db import migrations, models

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0009_equal_lines"), ("scheduled_posts", "0002_longer_keys")]

    operations = [
        migrations.AlterField("publishedkey", "key", models.CharField(max_length=255)),
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
