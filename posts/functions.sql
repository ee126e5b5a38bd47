-- The writes of posts. Each is one function, so that a request needs one round trip for it.
--
-- `is_known`: false if the account does not exist; then the other results are NULL. `change_id`: NULL
-- if nothing had to change. The version of the count of posts before and after the write goes into
-- the change. `refused` names the reason why nothing was written.
--
-- Every statement of a function sees what was committed when that statement starts. So what is read
-- after `accounts_lock` is what the last writer of this account has left.
--
-- The search functions are at the end. The index post_terms contains their results. So a released
-- version never changes them: it adds functions and an index with new names.

-- Writes a post, reply or repost. `refused`: `mentions` or `tags` for a daily limit, or `media`.
-- `about_quoted`: author and moment of the post that it quotes; NULL for none.
-- Called by posts/actions/insert_post.py.
CREATE OR REPLACE FUNCTION posts_publish(
    author bigint, once_key text, earliest bigint, new_text text, is_sensitive boolean,
    new_spoiler_text text, new_language text, new_kind integer, about_author bigint,
    about_moment bigint, new_visibility integer, new_mentions jsonb, new_tags text[],
    new_media jsonb, new_poll jsonb, new_application jsonb,
    first_author bigint, first_moment bigint, about_quoted bigint[], new_quote_policy integer,
    new_reply_policy integer, new_post_type text, new_custom text, today integer,
    most_mentions integer, most_tags integer, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT refused text, OUT post_moment bigint, OUT post_count bigint,
    OUT post_version bigint, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    -- One write of an account at a time.
    is_known := accounts_lock(author);
    IF NOT is_known THEN
        RETURN;
    END IF;
    -- A request that is repeated writes nothing: the same Idempotency-Key, or the same repost.
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
    -- The daily limits.
    refused := posts_count_links(
        author, today, coalesce(jsonb_array_length(new_mentions), 0),
        coalesce(cardinality(new_tags), 0), most_mentions, most_tags);
    IF refused IS NOT NULL THEN
        RETURN;
    END IF;
    -- The id. After 1,296 posts in one second the moment falls into the next second.
    post_moment := greatest(earliest, (
        SELECT moment + 1 FROM posts_post WHERE author_id = author ORDER BY moment DESC LIMIT 1));
    -- The images become part of the post.
    IF new_media IS NOT NULL THEN
        new_media := posts_attach(author, new_media, post_moment);
        IF new_media IS NULL THEN
            refused := 'media';
            RETURN;
        END IF;
    END IF;
    -- The post, and its key.
    INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, language, kind,
        target_author, target_moment, visibility, mentions, tags, media, poll,
        application, thread_author, thread_moment, quoted_author, quoted_moment, quote_policy,
        reply_policy, post_type, custom)
    VALUES (author, post_moment, new_text, is_sensitive, new_spoiler_text, new_language, new_kind,
        about_author, about_moment, new_visibility, new_mentions, new_tags, new_media,
        new_poll, new_application, first_author, first_moment,
        about_quoted[1], about_quoted[2], new_quote_policy, new_reply_policy, new_post_type,
        new_custom);
    IF once_key IS NOT NULL THEN
        INSERT INTO posts_publishedkey (author_id, key, moment, created_at)
        VALUES (author, once_key, post_moment, now());
    END IF;
    -- 14: CounterKind.NEWEST_POST_DAY; below 3: not Visibility.DIRECT
    IF new_visibility < 3 THEN
        PERFORM counters_set(author, 0, 14, posts_day_of(post_moment));
    END IF;
    -- 3: CounterKind.POSTS. Direct posts are not counted, but give the count a new version.
    SELECT * INTO post_count, post_version
    FROM counters_move(author, 0, 3, CASE new_visibility WHEN 3 THEN 0 ELSE 1 END);
    -- The consumers of the change do the rest: timelines, tags, notifications, caches.
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || jsonb_build_object(
            'moment', post_moment, 'before', post_version - 1, 'after', post_version));
END $$;

-- As images_attach, for the images of a draft. NULL also if a scheduled post waits with one of them.
CREATE OR REPLACE FUNCTION posts_attach(author bigint, media jsonb, post bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint[] := ARRAY(
        SELECT (image ->> 'id')::bigint FROM jsonb_array_elements(media) AS image);
BEGIN
    IF scheduled_posts_hold(author, wanted) THEN
        RETURN NULL;
    END IF;
    RETURN images_attach(author, wanted, post);
END $$;

-- Counts mentions and tags of a day. Returns the daily limit that they would break, else NULL.
CREATE OR REPLACE FUNCTION posts_count_links(
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

-- The day of a post since 1970. Post ids count from 2006-01-01, which is day 13149.
CREATE OR REPLACE FUNCTION posts_day_of(moment bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT moment / 1296 / 86400 + 13149';

-- Replaces the text of a post and keeps the version before. `image_texts`: for some of its images, objects
-- with `id` and a new `description` or `focus`; NULL for none. `new_custom`: NULL keeps it. `refused`: `gone` for no live post or
-- reply of the author, `full` for too many edits, or as posts_publish. posts/actions/edit_post.py
CREATE OR REPLACE FUNCTION posts_edit_post(
    author bigint, wanted_moment bigint, now_at timestamptz, new_text text, is_sensitive boolean,
    new_spoiler_text text, new_language text, new_mentions jsonb, new_tags text[],
    new_media jsonb, most_edits integer, today integer, most_mentions integer,
    most_tags integer, lane integer, change text, payload jsonb, new_poll jsonb, image_texts jsonb,
    new_custom text,
    OUT is_known boolean, OUT refused text, OUT edited timestamptz, OUT kept_custom text,
    OUT reported jsonb,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    old posts_post%ROWTYPE;
    edit_number integer;
    is_reset boolean := false;
    wanted_poll jsonb;
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
    -- The images become part of the post.
    IF new_media IS NOT NULL THEN
        new_media := posts_attach(author, new_media, wanted_moment);
        IF new_media IS NULL THEN
            refused := 'media';
            RETURN;
        END IF;
        new_media := (
            SELECT jsonb_agg(one || coalesce(sent - 'id', '{}') ORDER BY place)
            FROM jsonb_array_elements(new_media) WITH ORDINALITY AS listed (one, place)
            LEFT JOIN jsonb_array_elements(image_texts) AS sent ON sent -> 'id' = one -> 'id');
    END IF;
    -- Votes on other options, or on another number of choices, are gone: a new edition.
    IF new_poll IS NOT NULL AND new_poll IS DISTINCT FROM old.poll - 'edition' - 'edits' THEN
        is_reset := (old.poll -> 'options', old.poll -> 'multiple')
            IS DISTINCT FROM (new_poll -> 'options', new_poll -> 'multiple');
        wanted_poll := new_poll || jsonb_build_object(
            'edition', coalesce((old.poll ->> 'edition')::integer, 0) + is_reset::integer,
            'edits', coalesce((old.poll ->> 'edits')::integer, 0) + 1);
    ELSE
        wanted_poll := old.poll;
    END IF;
    kept_custom := coalesce(new_custom, old.custom);
    -- An edit that changes nothing writes nothing.
    IF (old.text, old.sensitive, old.spoiler_text, old.language, old.mentions, old.tags, old.media,
        old.poll, old.custom)
        IS NOT DISTINCT FROM (new_text, is_sensitive, new_spoiler_text, new_language::varchar,
            new_mentions, new_tags, new_media, wanted_poll, kept_custom) THEN
        RETURN;
    END IF;
    -- The limits. Only mentions and tags that the old text lacks count.
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
    -- What an image says about itself belongs to the image, too.
    UPDATE images_storedimage SET description = coalesce(sent ->> 'description', description),
        focus_x = coalesce((sent -> 'focus' ->> 0)::double precision, focus_x),
        focus_y = coalesce((sent -> 'focus' ->> 1)::double precision, focus_y)
    FROM jsonb_array_elements(image_texts) AS sent
    WHERE owner_id = author AND used_by = wanted_moment AND id = (sent ->> 'id')::bigint;
    -- The version before, then the new one.
    INSERT INTO posts_postversion (author_id, moment, number, text, sensitive, spoiler_text,
        mentions, media, poll, edited_at)
    VALUES (author, wanted_moment, edit_number, old.text, old.sensitive, old.spoiler_text,
        old.mentions, old.media, old.poll, old.edited_at);
    -- Never before the version that it replaces, also if a clock is set back.
    edited := greatest(now_at, old.edited_at);
    UPDATE posts_post SET text = new_text, sensitive = is_sensitive,
        spoiler_text = new_spoiler_text, language = new_language, mentions = new_mentions,
        tags = new_tags, media = new_media, edited_at = edited, poll = wanted_poll,
        custom = kept_custom,
        is_end_reported = is_end_reported AND (poll ->> 'expires_at_s')
            IS NOT DISTINCT FROM (wanted_poll ->> 'expires_at_s')
    WHERE author_id = author AND moment = wanted_moment;
    IF is_reset THEN
        DELETE FROM posts_polltally WHERE author_id = author AND moment = wanted_moment;
    END IF;
    -- 3: CounterKind.POSTS. The count stays, but gets a new version: caches compare versions.
    SELECT new_version INTO post_version FROM counters_move(author, 0, 3, 0);
    reported := payload || jsonb_strip_nulls(jsonb_build_object(
        'before', post_version - 1, 'after', post_version,
        'visibility', nullif(old.visibility, 0),
        'thread', CASE WHEN old.thread_author IS NOT NULL
            THEN jsonb_build_array(old.thread_author, old.thread_moment) END,
        'has_new_poll', nullif(wanted_poll IS DISTINCT FROM old.poll, false),
        'lost_media', nullif(old.media IS NOT NULL AND new_media IS NULL, false),
        'tags', to_jsonb(new_tags), 'tags_before', to_jsonb(old.tags),
        'mentioned', (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(new_mentions) AS one),
        'mentioned_before',
            (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(old.mentions) AS one)));
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author, reported);
END $$;

-- Deletes a post; its row stays as a tombstone. The change names the tags and the mentioned accounts,
-- because the tombstone has none. posts/actions/delete_post.py
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
        'quoted', CASE WHEN quoted_author IS NOT NULL
            THEN jsonb_build_array(quoted_author, quoted_moment) END,
        'mentioned', (SELECT jsonb_agg(one -> 0) FROM jsonb_array_elements(mentions) AS one)))
    INTO old_text, old_kind, about_author, about_moment, old_links
    FROM posts_post WHERE author_id = author AND moment = wanted_moment AND deleted_at IS NULL;
    IF NOT is_known OR old_kind IS NULL THEN
        RETURN;
    END IF;
    IF (payload -> 'keeps_images')::boolean THEN
        PERFORM images_release(author, wanted_moment);
    END IF;
    -- The tombstone keeps only the id, the visibility, and what the post was about.
    UPDATE posts_post SET text = '', spoiler_text = '', mentions = NULL, tags = NULL, media = NULL,
        poll = NULL, application = NULL, post_type = NULL, custom = NULL, deleted_at = now()
    WHERE author_id = author AND moment = wanted_moment;
    -- 6: Kind.PIN. A deleted post is not pinned.
    UPDATE posts_viewermark SET is_on = false, revision = revision + 1
    WHERE owner_id = author AND target_author = author AND target_moment = wanted_moment
        AND kind = 6 AND is_on;
    IF FOUND THEN
        -- 10: CounterKind.VIEWER_MARKS
        PERFORM counters_move(author, 0, 10, -1);
    END IF;
    DELETE FROM posts_postversion WHERE author_id = author AND moment = wanted_moment;
    -- 14: CounterKind.NEWEST_POST_DAY; 3: Visibility.DIRECT
    IF coalesce(old_links ->> 'visibility', '0') <> '3' THEN
        PERFORM counters_set(author, 0, 14, coalesce((
            SELECT posts_day_of(moment) FROM posts_post
            WHERE author_id = author AND deleted_at IS NULL AND visibility < 3
            ORDER BY moment DESC LIMIT 1), 0));
    END IF;
    -- 3: CounterKind.POSTS
    SELECT * INTO post_count, post_version
    FROM counters_move(author, 0, 3, CASE old_links ->> 'visibility' WHEN '3' THEN 0 ELSE -1 END);
    IF about_author IS NOT NULL THEN
        payload := payload || jsonb_build_object(
            'target', jsonb_build_array(old_kind, about_author, about_moment));
    END IF;
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || old_links || jsonb_build_object(
            'before', post_version - 1, 'after', post_version));
END $$;

-- Deletes the repost of a post. posts/actions/repost.py
CREATE OR REPLACE FUNCTION posts_undo_repost(
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

-- Takes back that a post quotes another one, for the author of that one. posts/actions/revoke_quote.py
CREATE OR REPLACE FUNCTION posts_revoke_quote(
    author bigint, quoting_moment bigint, about_author bigint, about_moment bigint,
    lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT post_version bigint, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    is_known := accounts_lock(author);
    IF NOT is_known THEN
        RETURN;
    END IF;
    UPDATE posts_post SET is_quote_revoked = true
    WHERE author_id = author AND moment = quoting_moment AND quoted_author = about_author
        AND quoted_moment = about_moment AND deleted_at IS NULL AND NOT is_quote_revoked;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT noted.post_version, noted.change_id, noted.changed_at
    INTO post_version, change_id, changed_at
    FROM posts_note_rewritten(author, lane, change, payload) AS noted;
END $$;

-- Changes which accounts may quote an own post and reply to it; NULL leaves a policy as it is.
-- `refused`: `gone` for no live post or reply of the author. posts/actions/set_policies.py
CREATE OR REPLACE FUNCTION posts_set_policies(
    author bigint, wanted_moment bigint, new_quote_policy integer, new_reply_policy integer,
    lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT refused text, OUT post_version bigint, OUT change_id bigint,
    OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    old record;
BEGIN
    is_known := accounts_lock(author);
    SELECT quote_policy, reply_policy INTO old FROM posts_post
    WHERE author_id = author AND moment = wanted_moment AND kind <> 2
        AND deleted_at IS NULL AND hidden_at IS NULL;
    IF NOT FOUND THEN
        refused := 'gone';
    END IF;
    IF NOT is_known OR refused IS NOT NULL THEN
        RETURN;
    END IF;
    UPDATE posts_post SET quote_policy = coalesce(new_quote_policy, old.quote_policy),
        reply_policy = coalesce(new_reply_policy, old.reply_policy)
    WHERE author_id = author AND moment = wanted_moment
        AND (new_quote_policy <> old.quote_policy OR new_reply_policy <> old.reply_policy);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT noted.post_version, noted.change_id, noted.changed_at
    INTO post_version, change_id, changed_at
    FROM posts_note_rewritten(author, lane, change, payload) AS noted;
END $$;

-- Appends the change of a post that was rewritten in place. The count of posts stays, but gets a new
-- version: caches compare versions. 3: CounterKind.POSTS
CREATE OR REPLACE FUNCTION posts_note_rewritten(
    author bigint, lane integer, change text, payload jsonb,
    OUT post_version bigint, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT new_version INTO post_version FROM counters_move(author, 0, 3, 0);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author,
        payload || jsonb_build_object('before', post_version - 1, 'after', post_version));
END $$;

-- Sets or ends a favourite, bookmark, pin or muted thread. posts/actions/mark_post.py
CREATE OR REPLACE FUNCTION posts_mark_post(
    owner bigint, marked_author bigint, marked_moment bigint, mark integer, new_is_on boolean,
    now_ms bigint, lane integer, change text, payload jsonb,
    OUT is_known boolean, OUT change_id bigint, OUT changed_at timestamptz, OUT new_revision bigint
) LANGUAGE plpgsql AS $$
DECLARE
    was_on boolean;
BEGIN
    is_known := accounts_lock(owner);
    SELECT is_on, revision + 1 INTO was_on, new_revision FROM posts_viewermark
    WHERE owner_id = owner AND target_moment = marked_moment AND target_author = marked_author
        AND kind = mark;
    -- A mark that is as wanted writes nothing.
    IF NOT is_known OR coalesce(was_on, false) = new_is_on THEN
        RETURN;
    END IF;
    new_revision := coalesce(new_revision, 1);
    INSERT INTO posts_viewermark (owner_id, target_moment, target_author, kind, is_on, revision,
        since_ms)
    VALUES (owner, marked_moment, marked_author, mark, new_is_on, new_revision, now_ms)
    ON CONFLICT (owner_id, target_moment, target_author, kind) DO UPDATE SET
        is_on = excluded.is_on, revision = excluded.revision, since_ms = excluded.since_ms;
    -- 10: CounterKind.VIEWER_MARKS
    PERFORM counters_move(owner, 0, 10, CASE WHEN new_is_on THEN 1 ELSE -1 END);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, owner, payload);
END $$;

-- Records responses on the shard of the posts' authors, as posts/actions/record_responses.py. The arrays
-- have one element for each response; of several states of one the newest holds. Only what is newer than
-- its row is written, and counted once: the rows are locked before the old states are read. `counted`: the
-- kind of the count, 0 for none.
-- `fold_lanes`, `fold_payloads`: of the change that adds up postponed moves of the post.
--
-- A row that does not exist cannot be locked. If another transaction creates one at the same time, this
-- is an error of serialization, and nothing is written.
CREATE OR REPLACE FUNCTION posts_record_responses(
    author_ids bigint[], moments bigint[], kinds smallint[], responder_ids bigint[],
    reply_moments bigint[], times bigint[], revisions bigint[], are_on boolean[], counted smallint[],
    hot_owners bigint[], hot_subjects bigint[], fold_kind text, fold_lanes integer[],
    fold_payloads jsonb[], OUT late_owners bigint[], OUT late_subjects bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    newer integer[];
    added integer[];
    moved integer[];
    written bigint;
    created bigint;
    deltas bigint[];
BEGIN
    PERFORM FROM unnest(author_ids, moments, kinds, responder_ids, reply_moments) AS w (a, m, k, r, rm)
    JOIN posts_response AS old
        ON old.author_id = a AND old.moment = m AND old.kind = k AND old.responder_id = r
        AND old.reply_moment = rm
    ORDER BY a, m, k, r, rm FOR NO KEY UPDATE OF old;

    -- What is newer, what of it has no row yet, and what moves a count.
    SELECT array_agg(n), array_agg(n) FILTER (WHERE old.author_id IS NULL),
        array_agg(n) FILTER (WHERE c > 0 AND is_on_now <> coalesce(old.is_on, false)),
        array_agg(is_on_now::int - coalesce(old.is_on, false)::int)
            FILTER (WHERE c > 0 AND is_on_now <> coalesce(old.is_on, false))
    INTO newer, added, moved, deltas
    FROM (
        SELECT DISTINCT ON (a, m, k, r, rm) *
        FROM unnest(author_ids, moments, kinds, responder_ids, reply_moments, revisions, are_on, counted)
            WITH ORDINALITY AS w (a, m, k, r, rm, new_revision, is_on_now, c, n)
        ORDER BY a, m, k, r, rm, new_revision DESC
    ) AS w
    LEFT JOIN posts_response AS old
        ON old.author_id = a AND old.moment = m AND old.kind = k AND old.responder_id = r
        AND old.reply_moment = rm
    WHERE old.revision IS NULL OR old.revision < new_revision;
    late_owners := '{}';
    late_subjects := '{}';
    IF newer IS NULL THEN
        RETURN;
    END IF;

    WITH rows AS (
        INSERT INTO posts_response AS old
            (author_id, moment, kind, responder_id, reply_moment, at, revision, is_on)
        SELECT author_ids[n], moments[n], kinds[n], responder_ids[n], reply_moments[n], times[n],
            revisions[n], are_on[n]
        FROM unnest(newer) AS n ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (author_id, moment, kind, responder_id, reply_moment) DO UPDATE SET
            at = excluded.at, revision = excluded.revision, is_on = excluded.is_on
        WHERE old.revision < excluded.revision
        RETURNING old.xmax = 0 AS is_new
    )
    SELECT count(*), count(*) FILTER (WHERE is_new) INTO written, created FROM rows;
    IF written <> cardinality(newer) OR created <> coalesce(cardinality(added), 0) THEN
        RAISE serialization_failure USING MESSAGE = 'another transaction records a response';
    END IF;

    SELECT all_moves.late_owners, all_moves.late_subjects INTO late_owners, late_subjects
    FROM counters_move_all(
        ARRAY(SELECT author_ids[n] FROM unnest(moved) AS n), ARRAY(SELECT moments[n] FROM unnest(moved) AS n),
        ARRAY(SELECT counted[n] FROM unnest(moved) AS n), ARRAY(SELECT responder_ids[n] FROM unnest(moved) AS n),
        coalesce(deltas, '{}'), hot_owners, hot_subjects) AS all_moves;
    PERFORM changes_append(fold_lanes[n], fold_kind, author_ids[n], fold_payloads[n]) FROM (
        SELECT min(n) AS n FROM unnest(moved) AS n
        WHERE (author_ids[n], moments[n]) IN (SELECT * FROM unnest(late_owners, late_subjects))
        GROUP BY author_ids[n], moments[n]
    ) AS late;
END $$;

-- Pins an own post. `refused`: `gone` for no live post of the owner, `repost`, `direct`, or `full` if
-- the owner has `most` pins on other posts. posts/actions/pin_post.py
CREATE OR REPLACE FUNCTION posts_pin_post(
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

-- Mutes a thread. `is_full`: the owner mutes `most` others. posts/actions/mute_thread.py
CREATE OR REPLACE FUNCTION posts_mute_thread(
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

-- Votes on a poll. `outcome` is `voted`; or it says why nothing was written: `no_poll`, `expired`,
-- `no_choice` (an option does not exist), or `again` (the account has chosen one of the options, or
-- the poll allows one). posts/actions/vote.py
CREATE OR REPLACE FUNCTION posts_vote(
    author bigint, voted_moment bigint, voter bigint, chosen smallint[], now_s bigint,
    lane integer, change text, payload jsonb,
    OUT outcome text, OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    asked jsonb;
    option_count integer;
    new_voters integer;
BEGIN
    -- Votes are on the shard of the poll. The lock of its author is also that of its tally.
    PERFORM accounts_lock(author);
    SELECT poll INTO asked FROM posts_post
    WHERE author_id = author AND moment = voted_moment AND deleted_at IS NULL AND hidden_at IS NULL;
    option_count := jsonb_array_length(asked -> 'options');
    IF asked IS NULL THEN
        outcome := 'no_poll';
    ELSIF (asked ->> 'expires_at_s')::bigint <= now_s THEN
        outcome := 'expired';
    ELSIF EXISTS (SELECT FROM unnest(chosen) AS one WHERE one < 0 OR one >= option_count) THEN
        outcome := 'no_choice';
    ELSIF cardinality(chosen) > 1 AND NOT (asked -> 'multiple')::boolean THEN
        outcome := 'again';
    ELSE
        -- A vote for an older edition of the poll is replaced; others are added to.
        INSERT INTO posts_pollvote AS v (author_id, moment, voter_id, choices, edition)
        VALUES (author, voted_moment, voter, chosen, coalesce((asked ->> 'edition')::integer, 0))
        ON CONFLICT (author_id, moment, voter_id) DO UPDATE SET edition = excluded.edition,
            choices = CASE WHEN v.edition < excluded.edition THEN chosen
                ELSE v.choices || chosen END
        WHERE v.edition < excluded.edition
            OR (asked -> 'multiple')::boolean AND NOT v.choices && chosen
        RETURNING (v.choices = chosen)::integer INTO new_voters;
        outcome := CASE WHEN FOUND THEN 'voted' ELSE 'again' END;
    END IF;
    IF outcome <> 'voted' THEN
        RETURN;
    END IF;
    -- The tally.
    INSERT INTO posts_polltally AS t (author_id, moment, votes, voters)
    VALUES (author, voted_moment, ARRAY(
        SELECT (n = ANY (chosen))::integer FROM generate_series(0, option_count - 1) AS n), new_voters)
    ON CONFLICT (author_id, moment) DO UPDATE SET voters = t.voters + new_voters, votes = ARRAY(
        SELECT t.votes[n] + excluded.votes[n] FROM generate_series(1, option_count) AS n);
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, author, payload);
END $$;

-- Reports the end of a poll once. posts/actions/end_polls.py
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

-- All texts of a post that are searched: its body, the options of its poll, and the descriptions of
-- its images, without those that moderators hid.
CREATE OR REPLACE FUNCTION posts_texts(body text, poll jsonb, media jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN body
    || coalesce((SELECT string_agg(' ' || option, '')
        FROM jsonb_array_elements_text(poll -> 'options') AS option), '')
    || coalesce((SELECT string_agg(' ' || (image ->> 'description'), '')
        FROM jsonb_array_elements(media) AS image
        WHERE (image ->> 'is_hidden') IS DISTINCT FROM 'true'), '');

-- ' two words ': one blank before and after each word. A run of characters of a script without blanks
-- (Thai and Lao; Burmese; Hangul; Khmer; Han with its signs, kana, bopomofo) is a word, also next to
-- a letter. NFC puts together what accounts_fold took apart: syllables of Hangul. Blanks and
-- punctuation separate words, also those of Armenian, Hebrew, Arabic, the scripts of India, Tibetan,
-- Burmese, Ethiopic, Khmer and Japanese.
CREATE OR REPLACE FUNCTION posts_spaced(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(' ' ||
    CASE WHEN octet_length(raw) = char_length(raw) THEN lower(raw) ELSE
        regexp_replace(normalize(accounts_fold(raw), NFC), '([\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+)', ' \1 ', 'g') END
    || ' ', '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u055a-\u055f\u0589\u05be\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0f0b-\u0f14\u104a-\u104f\u1361-\u1368\u17d4-\u17da\u2000-\u206f\u3000-\u3004\u3008-\u303f\u30a0\u30fb]+', ' ', 'g');

-- Only the first 3,000 characters of a post are searched. Folding can make a text longer.
CREATE OR REPLACE FUNCTION posts_searched(body text, spoiler text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ' ' || btrim(left(posts_spaced(left(spoiler || ' ' || body, 3000)), 3000)) || ' ';

-- abc: ab, bc, c. So a text with many characters has the pairs of each part of it.
CREATE OR REPLACE FUNCTION posts_pairs(run text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT substr(run, place, 2) FROM generate_series(1, char_length(run)) AS place);

-- What the index has: each word, without what is longer than 60 characters, and the pairs of runs; and
-- each of these again with its day: so the newest posts with a frequent word are found without the
-- older ones. '~' is in no word. 111974400: moments of a day. In PL/pgSQL, because a session plans its
-- statements once: an INSERT and a search would plan those of a function in SQL each time.
CREATE OR REPLACE FUNCTION posts_terms(
    body text, poll jsonb, media jsonb, spoiler text, at bigint
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2000 AS $$
DECLARE
    day text := '~' || at / 111974400 || ':';
    words text[];
BEGIN
    IF poll IS NOT NULL OR media IS NOT NULL THEN
        body := public.posts_texts(body, poll, media);
    END IF;
    words := string_to_array(btrim(public.posts_searched(body, spoiler)), ' ');
    RETURN (
        WITH terms AS (
            SELECT left(word, 60) AS term FROM unnest(words) AS word WHERE word <> '' AND word !~ '^[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]'
            UNION ALL SELECT unnest(public.posts_pairs(word)) FROM unnest(words) AS word WHERE word ~ '^[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]'
        )
        SELECT array_to_tsvector(array_agg(term) || array_agg(day || term)) FROM terms);
END $$;

-- A query: all of the first eight terms, on any day from first_day to last_day, or on any day at all.
-- One character that is a whole run is the beginning of a pair. NULL without words.
CREATE OR REPLACE FUNCTION posts_term_query(raw text, first_day bigint, last_day bigint)
RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    word text;
    terms text[] := '{}';
    every text;
BEGIN
    FOREACH word IN ARRAY string_to_array(btrim(posts_spaced(raw)), ' ') LOOP
        IF word !~ '^[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]' THEN
            terms := array_append(terms, left(word, 60) || '''');
        ELSIF char_length(word) = 1 THEN
            terms := array_append(terms, word || ''':*');
        ELSE
            terms := terms || ARRAY(
                SELECT pair || '''' FROM unnest(trim_array(posts_pairs(word), 1)) AS pair);
        END IF;
    END LOOP;
    terms := nullif(terms[1:8], '{}');
    IF first_day IS NULL THEN
        RETURN '''' || array_to_string(terms, ' & ''');
    END IF;
    FOR day IN first_day..last_day LOOP
        every := concat_ws(' | ', every,
            '(''~' || day || ':' || array_to_string(terms, ' & ''~' || day || ':') || ')');
    END LOOP;
    RETURN nullif(every, '')::tsquery;
END $$;

-- What posts_searched contains if and only if the post has these words next to each other. A word is
-- a whole one, and a run any part of a run. NULL without words.
CREATE OR REPLACE FUNCTION posts_pattern(raw text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    words text := posts_spaced(raw);
BEGIN
    IF words ~ '^ [\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]' THEN
        words := substr(words, 2);
    END IF;
    IF words ~ '[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af] $' THEN
        words := left(words, -1);
    END IF;
    RETURN nullif(words, ' ');
END $$;

-- Writes imported posts of accounts of this shard, with their external ids, their counts and the change
-- that brings the rest up to them. The arrays are in the order of the lines. `seconds`: of the posts'
-- ids. `about_…`: the post that a reply or repost is about, `first_…`: the first post of the thread.
-- Returns the numbers, from 1, and the moments of those that were written; `fulls`: the numbers of those
-- whose author has 1,296 posts in that second. What was imported before is in neither, nor is a repost
-- of what the author reposts already.
CREATE OR REPLACE FUNCTION posts_import(
    authors bigint[], external_ids text[], seconds bigint[], texts text[], are_sensitive boolean[],
    spoiler_texts text[], languages text[], kinds integer[], about_authors bigint[],
    about_moments bigint[], visibilities integer[], all_mentions jsonb[], all_tags jsonb[],
    first_authors bigint[], first_moments bigint[], post_types text[], customs text[],
    lane integer, change text, payload jsonb,
    OUT numbers integer[], OUT moments bigint[], OUT fulls integer[], OUT change_id bigint
-- As relations_mirror_follows: before the first ANALYZE a table that grows looks small.
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    owners bigint[] := ARRAY(SELECT DISTINCT a FROM unnest(authors) AS a ORDER BY a);
    newest record;
BEGIN
    PERFORM accounts_lock_each(owners);
    -- The next free moments of each author's second.
    WITH new AS (
        SELECT w.* FROM (
            -- Two lines may be the same post, or the same repost.
            SELECT *, row_number() OVER (PARTITION BY author, external ORDER BY n) AS nth,
                row_number() OVER (PARTITION BY author, kind, about_author, about_moment ORDER BY n)
                    AS nth_about
            FROM unnest(authors, seconds, external_ids, kinds, about_authors, about_moments)
                WITH ORDINALITY AS w (author, second, external, kind, about_author, about_moment, n)
        ) AS w
        WHERE nth = 1 AND (SELECT known.moment FROM posts_externalpost AS known
                WHERE known.author_id = w.author AND known.external_id = w.external LIMIT 1) IS NULL
            -- 2: Kind.REPOST. An author reposts a post once.
            AND (w.kind <> 2 OR nth_about = 1 AND (
                SELECT p.moment FROM posts_post AS p WHERE p.author_id = w.author
                    AND p.target_moment = w.about_moment AND p.target_author = w.about_author
                    AND p.kind = 2 AND p.deleted_at IS NULL LIMIT 1) IS NULL)
    ), placed AS (
        SELECT n, second, coalesce((SELECT max(p.moment) + 1 FROM posts_post AS p
            WHERE p.author_id = author AND p.moment >= second * 1296
                AND p.moment < (second + 1) * 1296), second * 1296)
            + row_number() OVER (PARTITION BY author, second ORDER BY n) - 1 AS moment
        FROM new
    )
    SELECT array_agg(n ORDER BY n) FILTER (WHERE moment < (second + 1) * 1296),
        array_agg(moment ORDER BY n) FILTER (WHERE moment < (second + 1) * 1296),
        array_agg(n) FILTER (WHERE moment >= (second + 1) * 1296)
    INTO numbers, moments, fulls FROM placed;
    IF numbers IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, language, kind,
        target_author, target_moment, visibility, mentions, tags, thread_author, thread_moment,
        post_type, custom)
    SELECT author, w.moment, body, is_sensitive, spoiler, lang, kind, about_author, about_moment,
        visibility, mentions,
        CASE WHEN tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(tags)) END,
        first_author, first_moment, own_type, own_data
    FROM unnest(authors, texts, are_sensitive, spoiler_texts, languages, kinds, about_authors,
        about_moments, visibilities, all_mentions, all_tags, first_authors, first_moments,
        post_types, customs)
        WITH ORDINALITY AS p (author, body, is_sensitive, spoiler, lang, kind, about_author,
            about_moment, visibility, mentions, tags, first_author, first_moment, own_type,
            own_data, n)
    JOIN unnest(numbers, moments) AS w (number, moment) ON w.number = p.n
    ORDER BY author, w.moment;
    INSERT INTO posts_externalpost (author_id, external_id, moment)
    SELECT authors[number], external_ids[number], moment
    FROM unnest(numbers, moments) AS w (number, moment);
    -- 3: CounterKind.POSTS. Direct posts are not counted, but give the count a new version.
    PERFORM counters_move_each(array_agg(authors[number]), array_agg(3),
        array_agg(CASE visibilities[number] WHEN 3 THEN 0 ELSE 1 END))
    FROM unnest(numbers) AS number;
    -- 14: CounterKind.NEWEST_POST_DAY
    FOR newest IN
        SELECT authors[number] AS author, posts_day_of(max(moment)) AS day
        FROM unnest(numbers, moments) AS w (number, moment)
        WHERE visibilities[number] < 3 GROUP BY 1 ORDER BY 1
    LOOP
        PERFORM counters_set(newest.author, 0, 14,
            greatest(counters_value(newest.author, 0, 14), newest.day));
    END LOOP;
    SELECT new_id INTO change_id FROM changes_append(lane, change, authors[numbers[1]], payload
        || jsonb_build_object(
            'authors', (SELECT jsonb_agg(authors[number]) FROM unnest(numbers) AS number),
            'moments', to_jsonb(moments)));
END $$;
