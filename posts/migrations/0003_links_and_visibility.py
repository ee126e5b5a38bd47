"""Posts with mentions, tags, images, a poll, an application and a visibility; and their write.

Old code calls `posts_create_post`; new code calls `posts_publish`. Its `refused` names the daily
limit that the post would break: mentions or tags. Then nothing is written. The changes of
`posts_delete_post` name the tags and the mentioned accounts, because the tombstone has none.
"""

from importlib import import_module

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SHARDED = {"placement": "sharded"}
COUNT_LINKS = """
CREATE FUNCTION posts_count_links(
    author bigint, today integer, mention_count integer, tag_count integer,
    most_mentions integer, most_tags integer
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    mentions_before integer;
    tags_before integer;
BEGIN
    IF mention_count + tag_count = 0 THEN
        RETURN NULL;
    END IF;
    SELECT mentions, tags INTO mentions_before, tags_before
    FROM posts_linkday WHERE author_id = author AND day = today;
    IF mention_count > 0 AND coalesce(mentions_before, 0) + mention_count > most_mentions THEN
        RETURN 'mentions';
    ELSIF tag_count > 0 AND coalesce(tags_before, 0) + tag_count > most_tags THEN
        RETURN 'tags';
    END IF;
    INSERT INTO posts_linkday AS d (author_id, day, mentions, tags)
    VALUES (author, today, mention_count, tag_count)
    ON CONFLICT (author_id) DO UPDATE SET day = excluded.day,
        mentions = excluded.mentions + CASE WHEN d.day = excluded.day THEN d.mentions ELSE 0 END,
        tags = excluded.tags + CASE WHEN d.day = excluded.day THEN d.tags ELSE 0 END;
    RETURN NULL;
END $$;
"""
PUBLISH = """
CREATE FUNCTION posts_publish(
    author bigint, once_key text, earliest bigint, new_text text, is_sensitive boolean,
    new_spoiler_text text, new_language text, new_kind integer, about_author bigint,
    about_moment bigint, new_visibility integer, new_mentions jsonb, new_tags text[],
    new_media jsonb, new_poll jsonb, new_application jsonb,
    first_author bigint, first_moment bigint, today integer, most_mentions integer,
    most_tags integer, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT refused text, OUT post_moment bigint, OUT post_count bigint,
    OUT post_version bigint, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(author);
    IF NOT is_known THEN
        RETURN;
    END IF;
    IF once_key IS NOT NULL THEN
        -- Keys are valid for an hour, as in Mastodon. No job deletes old keys.
        DELETE FROM posts_publishedkey
        WHERE author_id = author AND created_at <= now() - interval '1 hour';
        SELECT moment INTO post_moment FROM posts_publishedkey
        WHERE author_id = author AND key = once_key;
    ELSIF new_kind = 2 THEN
        SELECT moment INTO post_moment FROM posts_post
        WHERE author_id = author AND target_moment = about_moment
            AND target_author = about_author AND kind = 2 AND deleted_at IS NULL;
    END IF;
    IF post_moment IS NOT NULL THEN
        RETURN;
    END IF;
    refused := posts_count_links(
        author, today, coalesce(jsonb_array_length(new_mentions), 0),
        coalesce(cardinality(new_tags), 0), most_mentions, most_tags);
    IF refused IS NOT NULL THEN
        RETURN;
    END IF;
    -- After 1,296 posts in one second the moment falls into the next second.
    post_moment := greatest(earliest, (
        SELECT moment + 1 FROM posts_post WHERE author_id = author ORDER BY moment DESC LIMIT 1));
    INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, language, kind,
        target_author, target_moment, visibility, mentions, tags, media, poll,
        application, thread_author, thread_moment)
    VALUES (author, post_moment, new_text, is_sensitive, new_spoiler_text, new_language, new_kind,
        about_author, about_moment, new_visibility, new_mentions, new_tags, new_media,
        new_poll, new_application, first_author, first_moment);
    IF once_key IS NOT NULL THEN
        INSERT INTO posts_publishedkey (author_id, key, moment, created_at)
        VALUES (author, once_key, post_moment, now());
    END IF;
    -- 3: CounterKind.POSTS
    SELECT * INTO post_count, post_version FROM counters_move(author, 0, 3, 1);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || jsonb_build_object(
            'moment', post_moment, 'before', post_version - 1, 'after', post_version));
END $$;
"""
DELETE = """
CREATE OR REPLACE FUNCTION posts_delete_post(
    author bigint, wanted_moment bigint, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT old_text text, OUT old_kind integer, OUT about_author bigint,
    OUT about_moment bigint, OUT post_count bigint, OUT post_version bigint,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    old_links jsonb;
BEGIN
    is_known := accounts_lock(author);
    SELECT text, kind, target_author, target_moment, jsonb_strip_nulls(jsonb_build_object(
        'visibility', nullif(visibility, 0), 'tags', to_jsonb(tags),
        'mentioned', (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(mentions) AS one)))
    INTO old_text, old_kind, about_author, about_moment, old_links
    FROM posts_post WHERE author_id = author AND moment = wanted_moment AND deleted_at IS NULL;
    IF NOT is_known OR old_kind IS NULL THEN
        RETURN;
    END IF;
    -- The tombstone keeps only the id and the visibility.
    UPDATE posts_post SET text = '', spoiler_text = '', mentions = NULL, tags = NULL, media = NULL,
        poll = NULL, application = NULL, deleted_at = now()
    WHERE author_id = author AND moment = wanted_moment;
    -- 3: CounterKind.POSTS
    SELECT * INTO post_count, post_version FROM counters_move(author, 0, 3, -1);
    IF about_author IS NOT NULL THEN
        payload := payload || jsonb_build_object(
            'target', jsonb_build_array(old_kind, about_author, about_moment));
    END IF;
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || old_links || jsonb_build_object(
            'before', post_version - 1, 'after', post_version));
END $$;
"""
BEFORE = import_module("posts.migrations.0002_write_functions")


class Migration(migrations.Migration):
    dependencies = [("posts", "0002_write_functions")]

    operations = [
        migrations.CreateModel(
            name="LinkDay",
            fields=[
                ("author_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("day", models.IntegerField()),
                ("mentions", models.IntegerField()),
                ("tags", models.IntegerField()),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        *(
            migrations.AddField("post", name, field)
            for name, field in (
                ("mentions", models.JSONField(null=True)),
                ("tags", ArrayField(models.TextField(), null=True)),
                ("media", models.JSONField(null=True)),
                ("poll", models.JSONField(null=True)),
                ("application", models.JSONField(null=True)),
                ("edited_at", models.DateTimeField(null=True)),
                ("thread_author", models.BigIntegerField(null=True)),
                ("thread_moment", models.BigIntegerField(null=True)),
            )
        ),
        migrations.RunSQL(COUNT_LINKS, "DROP FUNCTION posts_count_links;", hints=SHARDED),
        migrations.RunSQL(PUBLISH, "DROP FUNCTION posts_publish;", hints=SHARDED),
        migrations.RunSQL(
            DELETE, BEFORE.DELETE.replace("CREATE ", "CREATE OR REPLACE ", 1), hints=SHARDED
        ),
    ]
