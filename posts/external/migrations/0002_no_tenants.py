"""A second tenant gets databases of its own, so no row names a tenant.

The column stays for old code, with a default of the database. A second step removes it. The new
indexes are made while people write.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models

INDEX = """
CREATE UNIQUE INDEX CONCURRENTLY posts_externalpost_key
    ON posts_externalpost (author_id, external_id)
"""
NO_LOOK_UP = "DROP INDEX IF EXISTS external_post_of_id"
NO_INDEX = "DROP INDEX IF EXISTS posts_externalpost_key"
KEY = """
ALTER TABLE posts_externalpost
    DROP CONSTRAINT posts_externalpost_pkey,
    ADD CONSTRAINT posts_externalpost_pkey PRIMARY KEY USING INDEX posts_externalpost_key
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("external_posts", "0001_initial")]

    operations = [
        migrations.RunSQL(NO_LOOK_UP, migrations.RunSQL.noop),  # of a run that was killed
        AddIndexConcurrently(
            "externalpost", models.Index(fields=["external_id"], name="external_post_of_id")
        ),
        RemoveIndexConcurrently("externalpost", "external_post_id"),
        migrations.RunSQL(NO_INDEX, migrations.RunSQL.noop),  # the same
        migrations.RunSQL(INDEX, migrations.RunSQL.noop),
        migrations.RunSQL(
            KEY,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveField("externalpost", "pk"),
                migrations.RemoveField("externalpost", "tenant"),
                migrations.AddField(
                    "externalpost",
                    "pk",
                    models.CompositePrimaryKey(
                        "author_id", "external_id", blank=True, editable=False,
                        primary_key=True, serialize=False,
                    ),
                ),
            ],
        ),
    ]
