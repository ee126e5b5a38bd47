"""An index for the quiet followers of an account. Follows continue while it is built.

On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run the statement of CREATE with psql
first. The migration keeps an index that is whole, and replaces one whose build was cut off.
"""

from django.db import migrations, models

DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('backward_quiet') AND NOT indisvalid) THEN
        DROP INDEX backward_quiet;
    END IF;
END $$;
"""
# 2: Attribute.WHISPER
CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS backward_quiet
    ON relations_backwardedge (followee_id, kind, since_ms DESC, follower_id DESC)
    WHERE attribute = 2;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("relations", "0002_write_functions")]

    operations = [
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(
            CREATE,
            "DROP INDEX backward_quiet;",
            hints=SHARDED,
            state_operations=[
                migrations.AddIndex(
                    "backwardedge",
                    models.Index(
                        fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                        name="backward_quiet",
                        condition=models.Q(attribute=2),
                    ),
                )
            ],
        ),
    ]
