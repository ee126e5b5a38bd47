"""The ids of notifications of declared reactions. Until all databases have it, declare no reaction that notifies."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("notifications", "0006_newest_of_equal")]

    operations = [
        migrations.RunSQL(functions_of("notifications"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
