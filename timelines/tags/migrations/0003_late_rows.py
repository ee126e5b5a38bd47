"""An index for the rows of the tag index that arrived late. Posts continue while it is built.

On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run the statement of CREATE with psql
first. The migration keeps an index that is whole, and replaces one whose build was cut off.
"""

from django.db import migrations

DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('tags_taggedpost_late') AND NOT indisvalid) THEN
        DROP INDEX tags_taggedpost_late;
    END IF;
END $$;
"""
# EPOCH of post ids: a row is late if it arrived three seconds after its second.
CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS tags_taggedpost_late
    ON tags_taggedpost (tag_id, arrival)
    WHERE arrival > (second + 1767225600) * 1000 + 3000;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("tags", "0002_arrival")]

    operations = [
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(CREATE, "DROP INDEX tags_taggedpost_late;", hints=SHARDED),
    ]
