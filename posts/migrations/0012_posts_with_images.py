"""An index for the posts of an author that have images. Posts are published while it is built.

On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run the statement of CREATE with psql
first. The migration keeps an index that is whole, and replaces one whose build was cut off.
"""

from django.db import migrations, models

DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('post_with_images') AND NOT indisvalid) THEN
        DROP INDEX post_with_images;
    END IF;
END $$;
"""
CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_with_images ON posts_post (author_id, moment DESC)
    WHERE deleted_at IS NULL AND media IS NOT NULL;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0011_images")]

    operations = [
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(
            CREATE,
            "DROP INDEX post_with_images;",
            hints=SHARDED,
            state_operations=[
                migrations.AddIndex(
                    "post",
                    models.Index(
                        fields=["author_id", "-moment"],
                        name="post_with_images",
                        condition=models.Q(deleted_at=None, media__isnull=False),
                    ),
                )
            ],
        ),
    ]
