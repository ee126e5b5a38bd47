"""The function of notifications with each request to follow as a new one."""

from django.db import migrations

from infra.sharding.sql import functions_of


class Migration(migrations.Migration):
    dependencies = [("notifications", "0004_warnings")]

    operations = [
        migrations.RunSQL(
            functions_of("notifications"), migrations.RunSQL.noop, hints={"placement": "sharded"}
        ),
    ]
