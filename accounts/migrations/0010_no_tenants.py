"""A second tenant gets databases of its own, so no row names a tenant.

The columns stay for old code, with a default of the database. A second step removes them.
"""

from django.db import migrations, models

# Old code finds a kind by both columns when it declares one.
KINDS = """
ALTER TABLE accounts_objectkind
    DROP CONSTRAINT accounts_objectkind_pkey,
    ADD PRIMARY KEY (name),
    ADD UNIQUE (tenant, name);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_service_object")]

    operations = [
        migrations.RunSQL(
            KINDS,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveField("objectkind", "pk"),
                migrations.RemoveField("objectkind", "tenant"),
                migrations.AlterField(
                    "objectkind",
                    "name",
                    models.CharField(max_length=15, primary_key=True, serialize=False),
                ),
            ],
            hints={"placement": "global"},
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(model, "tenant")
                for model in ("user", "account", "application")
            ]
        ),
    ]
