"""Writing or deleting a post sets the day of its author's newest post (CounterKind.NEWEST_POST_DAY).

Posts of before the migration count from the author's next post on, or after `recount_counters`.
"""

from importlib import import_module

from django.db import migrations

SHARDED = {"placement": "sharded"}
# Post ids count from 2026-01-01, which is day 20454 since 1970.
DAY = """
CREATE FUNCTION posts_day_of(moment bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT moment / 1296 / 86400 + 20454';
"""
# 14: CounterKind.NEWEST_POST_DAY, 3: Visibility.DIRECT. A new post is always the newest.
CREATED = """    IF new_visibility < 3 THEN
        PERFORM counters_set(author, 0, 14, posts_day_of(post_moment));
    END IF;
"""
# A direct post has no part in the day.
DELETED = """    IF coalesce(old_links ->> 'visibility', '0') <> '3' THEN
        PERFORM counters_set(author, 0, 14, coalesce((
            SELECT posts_day_of(moment) FROM posts_post
            WHERE author_id = author AND deleted_at IS NULL AND visibility < 3
            ORDER BY moment DESC LIMIT 1), 0));
    END IF;
"""
COUNT = "    -- 3: CounterKind.POSTS"
publishing = import_module("posts.migrations.0011_images")
deleting = import_module("posts.migrations.0013_release_images")


def _with(sql: str, addition: str) -> str:
    before, found, after = sql.partition(COUNT)
    assert found
    return before + addition + found + after


PUBLISH, DELETE = _with(publishing.PUBLISH, CREATED), _with(deleting.DELETE, DELETED)


class Migration(migrations.Migration):
    dependencies = [
        ("posts", "0013_release_images"),
        ("counters", "0006_newest_post_day"),
    ]

    operations = [
        migrations.RunSQL(DAY, "DROP FUNCTION posts_day_of;", hints=SHARDED),
        migrations.RunSQL(PUBLISH, publishing.PUBLISH, hints=SHARDED),
        migrations.RunSQL(DELETE, deleting.DELETE, hints=SHARDED),
    ]
