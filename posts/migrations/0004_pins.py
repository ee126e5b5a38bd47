"""Pins: marks of authors on their own posts. Deleting a post ends its pin.

`posts_pin_post`: `refused` says why nothing was written. It is `gone` for no live post of the owner,
`repost`, `direct`, or `full` if the owner has `most` pins on other posts.
"""

from importlib import import_module

from django.db import migrations, models

SHARDED = {"placement": "sharded"}
PIN = """
CREATE FUNCTION posts_pin_post(
    owner bigint, pinned_moment bigint, now_ms bigint, most integer, lane integer, change text,
    payload jsonb,
    OUT is_known boolean, OUT refused text, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(owner);
    IF NOT is_known THEN
        RETURN;
    END IF;
    SELECT CASE WHEN kind = 2 THEN 'repost' WHEN visibility = 3 THEN 'direct' END INTO refused
    FROM posts_post
    WHERE author_id = owner AND moment = pinned_moment AND deleted_at IS NULL AND hidden_at IS NULL;
    IF NOT FOUND THEN
        refused := 'gone';
    -- 6: Kind.PIN
    ELSIF refused IS NULL AND most <= (SELECT count(*) FROM posts_viewermark
        WHERE owner_id = owner AND kind = 6 AND is_on AND target_moment <> pinned_moment) THEN
        refused := 'full';
    END IF;
    IF refused IS NULL THEN
        SELECT marked.change_id, marked.changed_at INTO change_id, changed_at
        FROM posts_mark_post(owner, owner, pinned_moment, 6, true, now_ms, lane, change, payload)
            AS marked;
    END IF;
END $$;
"""
END_PIN = """
    UPDATE posts_viewermark SET is_on = false, revision = revision + 1
    WHERE owner_id = author AND target_author = author AND target_moment = wanted_moment
        AND kind = 6 AND is_on;
    IF FOUND THEN
        -- 10: CounterKind.VIEWER_MARKS
        PERFORM counters_move(author, 0, 10, -1);
    END IF;
"""
BEFORE = import_module("posts.migrations.0003_links_and_visibility")
COUNT = "    -- 3: CounterKind.POSTS\n"
DELETE = BEFORE.DELETE.replace(COUNT, END_PIN.lstrip("\n") + COUNT)


class Migration(migrations.Migration):
    dependencies = [("posts", "0003_links_and_visibility")]

    operations = [
        migrations.AlterField(
            "viewermark",
            "kind",
            models.SmallIntegerField(choices=[(3, "FAVOURITE"), (4, "BOOKMARK"), (6, "PIN")]),
        ),
        migrations.RunSQL(PIN, "DROP FUNCTION posts_pin_post;", hints=SHARDED),
        migrations.RunSQL(DELETE, BEFORE.DELETE, hints=SHARDED),
    ]
