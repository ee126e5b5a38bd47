"""Follow requests: an index for their list, and a limit of follows that includes them.

`relations_write_edge` is the function of 0002 but for that limit, so code of the version before can
go on calling it. Follows continue while the index is built; see 0003 for shards that need long.
"""

from importlib import import_module

from django.db import migrations, models

before = import_module("relations.migrations.0002_write_functions")
# 2: CounterKind.FOLLOWING, 7: CounterKind.SENT_REQUESTS
FOLLOWS = "counters_value(follower, 0, 2)"
WITH_REQUESTS = f"{FOLLOWS} + counters_value(follower, 0, 7)"
CREATE_BEFORE = before.WRITE_EDGE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
CREATE_FUNCTION = CREATE_BEFORE.replace(FOLLOWS, WITH_REQUESTS)
DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('backward_requests') AND NOT indisvalid) THEN
        DROP INDEX backward_requests;
    END IF;
END $$;
"""
# 4, 5: Attribute.REQUESTED, Attribute.REQUESTED_QUIETLY
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS backward_requests
    ON relations_backwardedge (followee_id, kind, since_ms DESC, follower_id DESC)
    WHERE attribute IN (4, 5);
"""
SHARDED = {"placement": "sharded"}
STATES = [
    (0, "NONE"),
    (1, "FOLLOW"),
    (2, "WHISPER"),
    (3, "BLACK"),
    (4, "REQUESTED"),
    (5, "REQUESTED_QUIETLY"),
]


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("relations", "0003_quiet_followers")]

    operations = [
        migrations.RunSQL(CREATE_FUNCTION, CREATE_BEFORE, hints=SHARDED),
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(
            CREATE_INDEX,
            "DROP INDEX backward_requests;",
            hints=SHARDED,
            state_operations=[
                migrations.AddIndex(
                    "backwardedge",
                    models.Index(
                        fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                        name="backward_requests",
                        condition=models.Q(attribute__in=(4, 5)),
                    ),
                )
            ],
        ),
        *(
            migrations.AlterField(name, "attribute", models.SmallIntegerField(choices=STATES))
            for name in ("backwardedge", "forwardedge")
        ),
    ]
