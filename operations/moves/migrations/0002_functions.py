"""The function of moves, as `functions.sql` has it."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("moves", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(
            functions_of("moves"), migrations.RunSQL.noop, hints={"placement": "sharded"}
        ),
    ]
