"""Muted threads. `posts_mute_thread` writes nothing if `is_full`: the owner mutes `most` others."""

from django.db import migrations, models

SHARDED = {"placement": "sharded"}
MUTE = """
CREATE FUNCTION posts_mute_thread(
    owner bigint, first_author bigint, first_moment bigint, now_ms bigint, most integer,
    lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT is_full boolean, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(owner);
    IF NOT is_known THEN
        RETURN;
    END IF;
    -- 5: Kind.THREAD_MUTE
    is_full := most <= (SELECT count(*) FROM posts_viewermark
        WHERE owner_id = owner AND kind = 5 AND is_on
            AND (target_author, target_moment) <> (first_author, first_moment));
    IF NOT is_full THEN
        SELECT marked.change_id, marked.changed_at INTO change_id, changed_at
        FROM posts_mark_post(
            owner, first_author, first_moment, 5, true, now_ms, lane, change, payload) AS marked;
    END IF;
END $$;
"""
MARKS = [(3, "FAVOURITE"), (4, "BOOKMARK"), (5, "THREAD_MUTE"), (6, "PIN")]


class Migration(migrations.Migration):
    dependencies = [("posts", "0007_polls")]

    operations = [
        migrations.AlterField("viewermark", "kind", models.SmallIntegerField(choices=MARKS)),
        migrations.RunSQL(MUTE, "DROP FUNCTION posts_mute_thread;", hints=SHARDED),
    ]
