"""Edits: a function that replaces the text of a post, and keeps the version before.

`posts_edit_post`: `refused` says why nothing was written. It is `gone` for no live post, reply or
shown post of the author, `full` after `most_edits` edits, or the daily limit that new links would break. All
are NULL if the post has these values already. `reported` is the payload of the change.
"""

from importlib import import_module

from django.db import migrations, models

import infra.sharding.models

SHARDED = {"placement": "sharded"}
EDIT = """
CREATE FUNCTION posts_edit_post(
    author bigint, wanted_moment bigint, now_at timestamptz, new_text text, is_sensitive boolean,
    new_spoiler_text text, new_language text, new_mentions jsonb, new_tags text[],
    new_media jsonb, most_edits integer, today integer, most_mentions integer,
    most_tags integer, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT refused text, OUT edited timestamptz, OUT reported jsonb,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    old posts_post%ROWTYPE;
    edit_number integer;
    post_version bigint;
BEGIN
    is_known := accounts_lock(author);
    IF NOT is_known THEN
        RETURN;
    END IF;
    SELECT * INTO old FROM posts_post WHERE author_id = author AND moment = wanted_moment
        AND kind <> 2 AND deleted_at IS NULL AND hidden_at IS NULL;
    IF NOT FOUND THEN
        refused := 'gone';
        RETURN;
    END IF;
    IF (old.text, old.sensitive, old.spoiler_text, old.language, old.mentions, old.tags, old.media)
        IS NOT DISTINCT FROM (new_text, is_sensitive, new_spoiler_text,
            new_language::varchar, new_mentions, new_tags, new_media) THEN
        RETURN;
    END IF;
    SELECT coalesce(max(number), 0) + 1 INTO edit_number
    FROM posts_postversion WHERE author_id = author AND moment = wanted_moment;
    refused := CASE WHEN edit_number > most_edits THEN 'full' ELSE posts_count_links(
        author, today,
        (SELECT count(*) FROM jsonb_array_elements(new_mentions) AS one
            WHERE NOT coalesce(old.mentions, '[]') @> jsonb_build_array(one))::integer,
        (SELECT count(*) FROM unnest(new_tags) AS tag
            WHERE tag <> ALL (coalesce(old.tags, '{}')))::integer,
        most_mentions, most_tags) END;
    IF refused IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO posts_postversion (author_id, moment, number, text, sensitive, spoiler_text,
        mentions, media, edited_at)
    VALUES (author, wanted_moment, edit_number, old.text, old.sensitive, old.spoiler_text,
        old.mentions, old.media, old.edited_at);
    -- Never before the version that it replaces, also if a clock is set back.
    edited := greatest(now_at, old.edited_at);
    UPDATE posts_post SET text = new_text, sensitive = is_sensitive,
        spoiler_text = new_spoiler_text, language = new_language, mentions = new_mentions,
        tags = new_tags, media = new_media, edited_at = edited
    WHERE author_id = author AND moment = wanted_moment;
    -- 3: CounterKind.POSTS. The count stays, but gets a new version: caches compare versions.
    SELECT new_version INTO post_version FROM counters_move(author, 0, 3, 0);
    reported := payload || jsonb_strip_nulls(jsonb_build_object(
        'before', post_version - 1, 'after', post_version,
        'visibility', nullif(old.visibility, 0),
        'thread', CASE WHEN old.thread_author IS NOT NULL
            THEN jsonb_build_array(old.thread_author, old.thread_moment) END,
        'tags', to_jsonb(new_tags), 'tags_before', to_jsonb(old.tags),
        'mentioned', (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(new_mentions) AS one),
        'mentioned_before',
            (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(old.mentions) AS one)));
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author, reported);
END $$;
"""
BEFORE = import_module("posts.migrations.0004_pins")
COUNT = BEFORE.COUNT
DELETE = BEFORE.DELETE.replace(
    COUNT,
    "    DELETE FROM posts_postversion WHERE author_id = author AND moment = wanted_moment;\n"
    + COUNT,
)


class Migration(migrations.Migration):
    dependencies = [("posts", "0005_tagged_posts")]

    operations = [
        migrations.CreateModel(
            name="PostVersion",
            fields=[
                ("pk", models.CompositePrimaryKey("author_id", "moment", "number", blank=True, editable=False, primary_key=True, serialize=False)),  # noqa: E501
                ("author_id", models.BigIntegerField()),
                ("moment", models.BigIntegerField()),
                ("number", models.IntegerField()),
                ("text", models.TextField()),
                ("sensitive", models.BooleanField()),
                ("spoiler_text", models.TextField(blank=True)),
                ("mentions", models.JSONField(null=True)),
                ("media", models.JSONField(null=True)),
                ("edited_at", models.DateTimeField(null=True)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.RunSQL(EDIT, "DROP FUNCTION posts_edit_post;", hints=SHARDED),
        migrations.RunSQL(DELETE, BEFORE.DELETE, hints=SHARDED),
    ]
