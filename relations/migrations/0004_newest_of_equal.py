"""A function takes several states of one row in a list: the newest holds. Old ones fail with the list."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("relations", "0003_languages")]

    operations = [
        migrations.RunSQL(functions_of("relations"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
