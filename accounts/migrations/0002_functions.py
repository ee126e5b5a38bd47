"""The functions of accounts, as `functions.sql` has them, and the index of their results."""

from django.db import migrations

from infra.sharding.sql import functions_of

# search_names
INDEX = """
CREATE INDEX account_names ON accounts_account USING gin (accounts_names(username, display_name));
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(functions_of("accounts"), migrations.RunSQL.noop, hints={"placement": "sharded"}),
        migrations.RunSQL(INDEX, migrations.RunSQL.noop, hints={"placement": "sharded"}),
    ]
