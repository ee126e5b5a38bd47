"""The functions of changes, as `functions.sql` has them."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [
        ("changes", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(functions_of("changes"), migrations.RunSQL.noop),
    ]
