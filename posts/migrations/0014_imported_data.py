"""An import takes types of posts and data of products. Old code calls the old function."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0013_own_data")]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
