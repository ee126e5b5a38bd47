"""A function takes several states of one row in a list: the newest holds. Old ones fail with the list."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("posts", "0011_closed_responses")]

    operations = [
        migrations.RunSQL(functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
