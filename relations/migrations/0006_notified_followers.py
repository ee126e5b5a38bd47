"""An index for the followers who are notified of posts. Follows continue while it is built.

On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run the statement of CREATE with psql
first. The migration keeps an index that is whole, and replaces one whose build was cut off.
"""

from django.db import migrations, models

DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('backward_notified') AND NOT indisvalid) THEN
        DROP INDEX backward_notified;
    END IF;
END $$;
"""
# 1, 2: Attribute.FOLLOW, Attribute.WHISPER; 4: EdgeFlag.NOTIFIES
CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS backward_notified
    ON relations_backwardedge (followee_id, kind, since_ms DESC, follower_id DESC)
    WHERE attribute IN (1, 2) AND flags >= 4;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("relations", "0005_account_notes")]

    operations = [
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(
            CREATE,
            "DROP INDEX backward_notified;",
            hints=SHARDED,
            state_operations=[
                migrations.AddIndex(
                    "backwardedge",
                    models.Index(
                        fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                        name="backward_notified",
                        condition=models.Q(attribute__in=(1, 2)) & models.Q(flags__gte=4),
                    ),
                )
            ],
        ),
    ]
