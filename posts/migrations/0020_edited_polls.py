"""An edit can replace the poll of a post, and give a post a poll.

`posts_edit_post` has the parameter `new_poll`; with NULL the post keeps its poll. The column `poll` has
two numbers after an edit: `edition` grows when the votes so far no longer count, and `edits` with every
change, so caches can compare. Votes of an older edition stay as rows, and the next vote replaces them.
"""

from importlib import import_module

from django.db import migrations, models

SHARDED = {"placement": "sharded"}
edits = import_module("posts.migrations.0011_images")
votes = import_module("posts.migrations.0016_further_votes")
COMPARE = """
    IF new_poll IS NOT NULL AND new_poll IS DISTINCT FROM old.poll - 'edition' - 'edits' THEN
        is_reset := (old.poll -> 'options', old.poll -> 'multiple')
            IS DISTINCT FROM (new_poll -> 'options', new_poll -> 'multiple');
        wanted_poll := new_poll || jsonb_build_object(
            'edition', coalesce((old.poll ->> 'edition')::integer, 0) + is_reset::integer,
            'edits', coalesce((old.poll ->> 'edits')::integer, 0) + 1);
    ELSE
        wanted_poll := old.poll;
    END IF;
    IF (old.text, old.sensitive"""
WRITE = """        tags = new_tags, media = new_media, edited_at = edited, poll = wanted_poll,
        is_end_reported = is_end_reported AND (poll ->> 'expires_at_s')
            IS NOT DISTINCT FROM (wanted_poll ->> 'expires_at_s')
    WHERE author_id = author AND moment = wanted_moment;
    IF is_reset THEN
        DELETE FROM posts_polltally WHERE author_id = author AND moment = wanted_moment;
    END IF;
"""
INSERT_VOTE = """        INSERT INTO posts_pollvote AS v (author_id, moment, voter_id, choices, edition)
        VALUES (author, voted_moment, voter, chosen, coalesce((asked ->> 'edition')::integer, 0))
        ON CONFLICT (author_id, moment, voter_id) DO UPDATE SET edition = excluded.edition,
            choices = CASE WHEN v.edition < excluded.edition THEN chosen
                ELSE v.choices || chosen END
        WHERE v.edition < excluded.edition
            OR (asked -> 'multiple')::boolean AND NOT v.choices && chosen
"""
OLD_INSERT = """        INSERT INTO posts_pollvote AS v (author_id, moment, voter_id, choices)
        VALUES (author, voted_moment, voter, chosen)
        ON CONFLICT (author_id, moment, voter_id) DO UPDATE SET choices = v.choices || chosen
        WHERE (asked -> 'multiple')::boolean AND NOT v.choices && chosen
"""


def _replaced(sql: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        if sql.count(old) != 1:
            raise ValueError(f"not once in the function: {old}")
        sql = sql.replace(old, new)
    return sql


EDIT = _replaced(
    edits.EDIT,
    ("CREATE OR REPLACE FUNCTION", "CREATE FUNCTION"),
    ("change text, payload jsonb,\n", "change text, payload jsonb, new_poll jsonb,\n"),
    ("    edit_number integer;\n", "    edit_number integer;\n    is_reset boolean := false;\n    wanted_poll jsonb;\n"),
    (edits.COMPARE, COMPARE.lstrip("\n")),
    ("old.mentions, old.tags, old.media)\n", "old.mentions, old.tags, old.media,\n        old.poll)\n"),
    ("new_mentions, new_tags, new_media) THEN", "new_mentions, new_tags, new_media, wanted_poll) THEN"),
    ("        mentions, media, edited_at)\n", "        mentions, media, poll, edited_at)\n"),
    ("old.mentions, old.media, old.edited_at);", "old.mentions, old.media, old.poll, old.edited_at);"),
    (
        "        tags = new_tags, media = new_media, edited_at = edited\n"
        "    WHERE author_id = author AND moment = wanted_moment;\n",
        WRITE,
    ),
    (
        "        'tags', to_jsonb(new_tags),",
        "        'has_new_poll', nullif(wanted_poll IS DISTINCT FROM old.poll, false),\n"
        "        'tags', to_jsonb(new_tags),",
    ),
)
VOTE = _replaced(votes.FURTHER, (OLD_INSERT, INSERT_VOTE))
DROP = "DROP FUNCTION posts_edit_post;"


class Migration(migrations.Migration):
    dependencies = [("posts", "0019_threads_below_deleted_posts")]

    operations = [
        migrations.AddField("postversion", "poll", models.JSONField(null=True)),
        migrations.AddField("pollvote", "edition", models.IntegerField(db_default=0)),
        migrations.RunSQL(DROP, edits.EDIT, hints=SHARDED),
        migrations.RunSQL(EDIT, DROP, hints=SHARDED),
        migrations.RunSQL(VOTE, votes.FURTHER, hints=SHARDED),
    ]
