"""The function of Web Push, as `functions.sql` has it."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("push", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(
            functions_of("push"), migrations.RunSQL.noop, hints={"placement": "sharded"}
        ),
    ]
