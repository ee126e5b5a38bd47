"""An index for the accounts that a profile shows: the few follows with the flag ENDORSED.

The index of the followers who are notified of posts listed flags from 4 on, which would now include
endorsed follows. Another one takes its place. Follows continue while the indexes are built; see
0003 for shards that need long.
"""

from django.db import migrations, models

DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('{name}') AND NOT indisvalid) THEN
        DROP INDEX {name};
    END IF;
END $$;
"""
# 8: EdgeFlag.ENDORSED, the greatest flag
CREATE_ENDORSED = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS forward_endorsed
    ON relations_forwardedge (follower_id, kind, since_ms DESC, followee_id DESC)
    INCLUDE (attribute, flags) WHERE flags >= 8;
"""
# 1, 2: Attribute.FOLLOW, Attribute.WHISPER; the flags with 4: EdgeFlag.NOTIFIES
CREATE_NOTIFIES = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS backward_notifies
    ON relations_backwardedge (followee_id, kind, since_ms DESC, follower_id DESC)
    WHERE attribute IN (1, 2) AND flags IN (4, 5, 6, 7, 12, 13, 14, 15);
"""
SHARDED = {"placement": "sharded"}
ENDORSED = models.Index(
    fields=["follower_id", "kind", "-since_ms", "-followee_id"],
    name="forward_endorsed",
    condition=models.Q(flags__gte=8),
    include=["attribute", "flags"],
)
NOTIFIES = models.Index(
    fields=["followee_id", "kind", "-since_ms", "-follower_id"],
    name="backward_notifies",
    condition=models.Q(attribute__in=(1, 2), flags__in=[4, 5, 6, 7, 12, 13, 14, 15]),
)


def create(statement: str, table: str, index: models.Index) -> list[migrations.RunSQL]:
    """Replaces an index whose build was cut off, and keeps one that is whole."""
    return [
        migrations.RunSQL(
            DROP_UNFINISHED.format(name=index.name), migrations.RunSQL.noop, hints=SHARDED
        ),
        migrations.RunSQL(
            statement,
            f"DROP INDEX {index.name};",
            hints=SHARDED,
            state_operations=[migrations.AddIndex(table, index)],
        ),
    ]


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("relations", "0006_notified_followers")]

    operations = [
        *create(CREATE_ENDORSED, "forwardedge", ENDORSED),
        *create(CREATE_NOTIFIES, "backwardedge", NOTIFIES),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS backward_notified;",
            migrations.RunSQL.noop,
            hints=SHARDED,
            state_operations=[migrations.RemoveIndex("backwardedge", "backward_notified")],
        ),
    ]
