"""The functions of counters, as `functions.sql` has them."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("counters", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(functions_of("counters"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
