"""A second tenant gets databases of its own, so no row names a tenant.

The columns stay for old code, with a default of the database. A second step removes them. The new
index is made while people write.
"""

from django.db import migrations, models

INDEX = """
CREATE UNIQUE INDEX CONCURRENTLY identity_is_of_one_user
    ON identities_externalidentity (issuer, subject)
"""
# Of a run that was killed.
NEITHER = """
ALTER TABLE identities_externalidentity DROP CONSTRAINT IF EXISTS identity_is_of_one_user;
DROP INDEX IF EXISTS identity_is_of_one_user;
"""
OLD = "ALTER TABLE identities_externalidentity DROP CONSTRAINT IF EXISTS identity_has_one_user"
CONSTRAINT = """
ALTER TABLE identities_externalidentity
    ADD CONSTRAINT identity_is_of_one_user UNIQUE USING INDEX identity_is_of_one_user
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("identities", "0002_trusted_issuers")]

    operations = [
        migrations.RunSQL(NEITHER, migrations.RunSQL.noop),
        migrations.RunSQL(INDEX, migrations.RunSQL.noop),
        migrations.RunSQL(
            CONSTRAINT,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddConstraint(
                    "externalidentity",
                    models.UniqueConstraint(
                        fields=("issuer", "subject"), name="identity_is_of_one_user"
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            OLD,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveConstraint("externalidentity", "identity_has_one_user")
            ],
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(model, "tenant")
                for model in ("externalidentity", "trustedissuer")
            ]
        ),
    ]
