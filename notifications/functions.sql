-- The function of notifications.

-- Brings notifications up to what happened, as actions/write_notifications.py. The arrays have one
-- element for each occurrence; owner, from, kind, moment and author of the post are its key. Of several
-- states of one occurrence the newest holds.
--
-- It first locks the inboxes, in the order of their owners. So no other write adds rows at the same
-- time, and what each statement reads is what the last writer has left. An account that was purged gets
-- no new inbox from occurrences that only end something.
--
-- `added`: how many rows are new. `push_owners`, `push_ids`: rows whose messages were not sent, also
-- those of an earlier run, which died before it ordered them.
CREATE OR REPLACE FUNCTION notifications_write(
    owner_ids bigint[], from_ids bigint[], kinds smallint[], moments bigint[], authors bigint[],
    times bigint[], revisions bigint[], are_on boolean[], crowd_kinds smallint[], most_an_hour bigint,
    now_tick bigint, hour_ago bigint, day_ago bigint, oldest_ms bigint,
    OUT added bigint, OUT push_owners bigint[], OUT push_ids bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    told bigint[];
BEGIN
    SELECT array_agg(o), array_agg(f), array_agg(k), array_agg(m), array_agg(a), array_agg(at_ms),
        array_agg(revision), array_agg(is_on)
    INTO owner_ids, from_ids, kinds, moments, authors, times, revisions, are_on
    FROM (
        SELECT DISTINCT ON (o, f, k, m, a) *
        FROM unnest(owner_ids, from_ids, kinds, moments, authors, times, revisions, are_on)
            AS sent (o, f, k, m, a, at_ms, revision, is_on)
        ORDER BY o, f, k, m, a, revision DESC
    ) AS newest;
    told := ARRAY(SELECT DISTINCT told_id FROM unnest(owner_ids, are_on) AS o (told_id, is_told)
        WHERE is_told ORDER BY told_id);
    INSERT INTO notifications_inbox (owner_id) SELECT unnest(told) ON CONFLICT DO NOTHING;
    PERFORM FROM notifications_inbox WHERE owner_id = ANY(told) ORDER BY owner_id FOR NO KEY UPDATE;

    -- What was undone long ago and is done again happens again: its row gets a new place. So does each
    -- request to follow (3), which its owner has to answer, whether or not the end of the former one came here.
    DELETE FROM notifications_notification AS old
    USING unnest(owner_ids, from_ids, kinds, moments, authors, times, revisions, are_on)
        AS sent (owner_id, from_id, kind, post_moment, post_author, at_ms, revision, is_on)
    WHERE (old.owner_id, old.from_id, old.kind, old.post_moment, old.post_author)
            = (sent.owner_id, sent.from_id, sent.kind, sent.post_moment, sent.post_author)
        AND old.revision < sent.revision AND sent.is_on AND CASE
            WHEN old.kind = 3 THEN NOT old.is_on OR old.at_ms <> sent.at_ms
            ELSE NOT old.is_on AND old.id < day_ago END;
    UPDATE notifications_notification AS old SET is_on = sent.is_on, revision = sent.revision
    FROM unnest(owner_ids, from_ids, kinds, moments, authors, revisions, are_on)
        AS sent (owner_id, from_id, kind, post_moment, post_author, revision, is_on)
    WHERE (old.owner_id, old.from_id, old.kind, old.post_moment, old.post_author)
            = (sent.owner_id, sent.from_id, sent.kind, sent.post_moment, sent.post_author)
        AND old.revision < sent.revision;

    -- `nth` numbers the new ones of a kind, oldest first.
    WITH fresh AS MATERIALIZED (
        SELECT sent.*, sent.kind = ANY(crowd_kinds) AS is_crowd,
            row_number() OVER (PARTITION BY sent.owner_id, sent.kind ORDER BY at_ms, sent.from_id) AS nth
        FROM unnest(owner_ids, from_ids, kinds, moments, authors, times, revisions, are_on)
            AS sent (owner_id, from_id, kind, post_moment, post_author, at_ms, revision, is_on)
        JOIN notifications_inbox AS inbox USING (owner_id)
        WHERE is_on AND at_ms >= oldest_ms AND at_ms > floor_ms
            AND (at_ms > crowd_floor_ms OR sent.kind <> ALL(crowd_kinds))
            AND NOT EXISTS (SELECT FROM notifications_notification AS old
                WHERE (old.owner_id, old.from_id, old.kind, old.post_moment, old.post_author)
                    = (sent.owner_id, sent.from_id, sent.kind, sent.post_moment, sent.post_author))
    ), judged AS MATERIALIZED (
        SELECT *, NOT is_crowd OR nth + (
            SELECT count(*) FROM (
                SELECT FROM notifications_notification AS old
                WHERE old.owner_id = fresh.owner_id AND old.kind = fresh.kind AND old.is_on
                    AND NOT old.is_dismissed AND old.id >= hour_ago LIMIT most_an_hour
            ) AS lately
        ) <= most_an_hour AS is_kept FROM fresh
    ), numbered AS MATERIALIZED (
        SELECT judged.*, greatest(newest_tick, now_tick)
            + row_number() OVER (PARTITION BY owner_id ORDER BY at_ms, kind, from_id) AS tick
        FROM judged JOIN notifications_inbox USING (owner_id) WHERE is_kept
    ), moved AS (
        UPDATE notifications_inbox AS inbox
        SET newest_tick = greatest(inbox.newest_tick, given.newest_tick),
            crowd_floor_ms = greatest(inbox.crowd_floor_ms, given.left_out_ms)
        FROM (
            SELECT owner_id, (SELECT max(tick) FROM numbered WHERE numbered.owner_id = judged.owner_id)
                AS newest_tick, max(at_ms) FILTER (WHERE NOT is_kept) AS left_out_ms
            FROM judged GROUP BY owner_id
        ) AS given
        WHERE inbox.owner_id = given.owner_id
    )
    INSERT INTO notifications_notification (
        owner_id, from_id, kind, post_moment, post_author, id, at_ms, revision, is_on, is_to_push)
    -- As `id_of` in ids.py. 10: KIND_DIGIT
    SELECT owner_id, from_id, kind, post_moment, post_author,
        tick * 10 + CASE WHEN kind < 10 THEN kind ELSE 4 END, at_ms, revision, true,
        push_is_subscribed(owner_id)
    FROM numbered;
    GET DIAGNOSTICS added = ROW_COUNT;

    SELECT coalesce(array_agg(old.owner_id ORDER BY old.id), '{}'), coalesce(array_agg(old.id ORDER BY old.id), '{}')
    INTO push_owners, push_ids
    FROM unnest(owner_ids, from_ids, kinds, moments, authors)
        AS sent (owner_id, from_id, kind, post_moment, post_author)
    JOIN notifications_notification AS old
        ON (old.owner_id, old.from_id, old.kind, old.post_moment, old.post_author)
            = (sent.owner_id, sent.from_id, sent.kind, sent.post_moment, sent.post_author)
    WHERE old.is_to_push AND old.is_on;
END $$;
