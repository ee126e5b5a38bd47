"""The function of notifications, as `functions.sql` has it."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0001_initial"),
        ("push", "0002_functions"),
    ]

    operations = [
        migrations.RunSQL(
            functions_of("notifications"), migrations.RunSQL.noop, hints={"placement": "sharded"}
        ),
    ]
