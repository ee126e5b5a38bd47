"""The writes of posts, each as one function, so that a request needs one round trip for it.

`is_known`: false if the account does not exist; then the rest is NULL. `change_id` is NULL if nothing
had to change. The version before the change and the one after it go into the payload.

Every statement of a function sees what was committed when that statement starts. So what is read
after `accounts_lock` is what the last writer of this account has left.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION posts_create_post(
    author bigint, once_key text, earliest bigint, new_text text, is_sensitive boolean,
    new_spoiler_text text, new_language text, new_kind integer, about_author bigint,
    about_moment bigint, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT post_moment bigint, OUT post_count bigint, OUT post_version bigint,
    OUT change_id bigint, OUT changed_at timestamptz
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
    -- After 1,296 posts in one second the moment falls into the next second.
    post_moment := greatest(earliest, (
        SELECT moment + 1 FROM posts_post WHERE author_id = author ORDER BY moment DESC LIMIT 1));
    INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, language, kind,
        target_author, target_moment)
    VALUES (author, post_moment, new_text, is_sensitive, new_spoiler_text, new_language, new_kind,
        about_author, about_moment);
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
CREATE FUNCTION posts_delete_post(
    author bigint, wanted_moment bigint, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT old_text text, OUT old_kind integer, OUT about_author bigint,
    OUT about_moment bigint, OUT post_count bigint, OUT post_version bigint,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(author);
    SELECT text, kind, target_author, target_moment
    INTO old_text, old_kind, about_author, about_moment
    FROM posts_post WHERE author_id = author AND moment = wanted_moment AND deleted_at IS NULL;
    IF NOT is_known OR old_kind IS NULL THEN
        RETURN;
    END IF;
    -- The tombstone keeps only the id.
    UPDATE posts_post SET text = '', spoiler_text = '', deleted_at = now()
    WHERE author_id = author AND moment = wanted_moment;
    -- 3: CounterKind.POSTS
    SELECT * INTO post_count, post_version FROM counters_move(author, 0, 3, -1);
    IF about_author IS NOT NULL THEN
        payload := payload || jsonb_build_object(
            'target', jsonb_build_array(old_kind, about_author, about_moment));
    END IF;
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || jsonb_build_object('before', post_version - 1, 'after', post_version));
END $$;
"""
UNDO_REPOST = """
CREATE FUNCTION posts_undo_repost(
    author bigint, reposted_author bigint, reposted_moment bigint, lane integer, change text,
    payload jsonb,
    OUT is_known boolean, OUT post_moment bigint, OUT post_count bigint, OUT post_version bigint,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(author);
    SELECT moment INTO post_moment FROM posts_post
    WHERE author_id = author AND target_moment = reposted_moment
        AND target_author = reposted_author AND kind = 2 AND deleted_at IS NULL;
    IF NOT is_known OR post_moment IS NULL THEN
        RETURN;
    END IF;
    SELECT deleted.post_count, deleted.post_version, deleted.change_id, deleted.changed_at
    INTO post_count, post_version, change_id, changed_at
    FROM posts_delete_post(author, post_moment, lane, change,
        payload || jsonb_build_object('moment', post_moment)) AS deleted;
END $$;
"""
MARK = """
CREATE FUNCTION posts_mark_post(
    owner bigint, marked_author bigint, marked_moment bigint, mark integer, new_is_on boolean,
    now_ms bigint, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    was_on boolean;
    old_revision bigint;
BEGIN
    is_known := accounts_lock(owner);
    SELECT is_on, revision INTO was_on, old_revision FROM posts_viewermark
    WHERE owner_id = owner AND target_moment = marked_moment AND target_author = marked_author
        AND kind = mark;
    IF NOT is_known OR coalesce(was_on, false) = new_is_on THEN
        RETURN;
    END IF;
    INSERT INTO posts_viewermark (owner_id, target_moment, target_author, kind, is_on, revision,
        since_ms)
    VALUES (owner, marked_moment, marked_author, mark, new_is_on,
        coalesce(old_revision, 0) + 1, now_ms)
    ON CONFLICT (owner_id, target_moment, target_author, kind) DO UPDATE SET
        is_on = excluded.is_on, revision = excluded.revision, since_ms = excluded.since_ms;
    -- 10: CounterKind.VIEWER_MARKS
    PERFORM counters_move(owner, 0, 10, CASE WHEN new_is_on THEN 1 ELSE -1 END);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, owner, payload);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("posts", "0001_initial"),
        ("accounts", "0002_lock_function"),
        ("counters", "0002_move_function"),
        ("changes", "0002_append_function"),
    ]

    operations = [
        migrations.RunSQL(
            CREATE, "DROP FUNCTION posts_create_post;", hints={"placement": "sharded"}
        ),
        migrations.RunSQL(
            DELETE, "DROP FUNCTION posts_delete_post;", hints={"placement": "sharded"}
        ),
        migrations.RunSQL(
            UNDO_REPOST, "DROP FUNCTION posts_undo_repost;", hints={"placement": "sharded"}
        ),
        migrations.RunSQL(MARK, "DROP FUNCTION posts_mark_post;", hints={"placement": "sharded"}),
    ]
