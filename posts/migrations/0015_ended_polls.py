"""The ends of polls: which were reported, an index of the others, and the report of an end.

Code of the version before publishes polls that are not reported, as they should be. Posts are
published while the index is built; see 0012 for shards that need long. Each statement may run
again, because a build that is cut off leaves those before it done.
"""

from django.db import migrations, models

SHARDED = {"placement": "sharded"}
ADD_COLUMN = """
ALTER TABLE posts_post ADD COLUMN IF NOT EXISTS is_end_reported boolean DEFAULT false NOT NULL;
"""
DROP_COLUMN = "ALTER TABLE posts_post DROP COLUMN is_end_reported;"
DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('post_open_poll') AND NOT indisvalid) THEN
        DROP INDEX post_open_poll;
    END IF;
END $$;
"""
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_open_poll
    ON posts_post (((poll ->> 'expires_at_s')::bigint))
    WHERE poll IS NOT NULL AND NOT is_end_reported AND deleted_at IS NULL;
"""
END_POLL = """
CREATE OR REPLACE FUNCTION posts_end_poll(
    author bigint, ended_moment bigint, lane integer, change text, payload jsonb,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM accounts_lock(author);
    UPDATE posts_post SET is_end_reported = true
    WHERE author_id = author AND moment = ended_moment AND poll IS NOT NULL
        AND NOT is_end_reported AND deleted_at IS NULL;
    IF FOUND THEN
        SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author, payload);
    END IF;
END $$;
"""


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0014_newest_post_day")]

    operations = [
        migrations.RunSQL(
            ADD_COLUMN,
            DROP_COLUMN,
            hints=SHARDED,
            state_operations=[
                migrations.AddField(
                    "post", "is_end_reported", models.BooleanField(db_default=False)
                )
            ],
        ),
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(CREATE_INDEX, "DROP INDEX post_open_poll;", hints=SHARDED),
        migrations.RunSQL(END_POLL, "DROP FUNCTION posts_end_poll;", hints=SHARDED),
    ]
