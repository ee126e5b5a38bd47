"""The functions of relations, as `functions.sql` has them."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("relations", "0001_initial"),
        ("accounts", "0002_functions"),
        ("changes", "0002_functions"),
        ("counters", "0002_functions"),
    ]

    operations = [
        migrations.RunSQL(functions_of("relations"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
