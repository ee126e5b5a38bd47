-- The write of a forward edge. It is one function, so that a request needs one round trip for it.
--
-- Every statement of a function sees what was committed when that statement starts. So what is read
-- after `accounts_lock` is what the last writer of this account has left.

-- The caller (relations/actions/write_edge.py) computes the new edge from an edge that it has read
-- without a lock. The function writes it only if the edge still has that revision. `outcome`:
--
--     written        the edge, its counts and its change are written
--     stale          the edge has another revision: the one in the columns `old_…`, 0 for no edge
--     unknown        the follower's account does not exist
--     blocked        the followee blocks the follower
--     too_many_today, too_many
--                    the follower may not begin another follow today, or at all
--
-- `most_follows`: NULL unless the edge begins a follow. `moved`, `deltas`: the counts to move, with
-- the version of the following list (2: CounterKind.FOLLOWING) among them.
CREATE OR REPLACE FUNCTION relations_write_edge(
    follower bigint, followee bigint, expected bigint, new_attribute integer, new_revision bigint,
    new_since_ms bigint, new_flags integer, most_follows bigint, today bigint, most_today bigint,
    moved integer[], deltas integer[], lane integer, change text, payload jsonb,
    OUT outcome text, OUT old_attribute integer, OUT old_revision bigint, OUT old_since_ms bigint,
    OUT old_flags integer, OUT following_count bigint, OUT following_version bigint,
    OUT change_id bigint, OUT changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    count_value bigint;
    count_version bigint;
BEGIN
    IF NOT accounts_lock(follower) THEN
        outcome := 'unknown';
        RETURN;
    END IF;
    -- The edge must be the one that the caller has read.
    SELECT attribute, revision, since_ms, flags
    INTO old_attribute, old_revision, old_since_ms, old_flags FROM relations_forwardedge
    WHERE follower_id = follower AND kind = 0 AND followee_id = followee;
    IF coalesce(old_revision, 0) <> expected THEN
        outcome := 'stale';
        RETURN;
    END IF;
    -- A new follow: may it begin? Then it counts for today.
    IF most_follows IS NOT NULL THEN
        -- 3: Attribute.BLACK. The mirrored block is written under the lock of this account.
        IF EXISTS (SELECT FROM relations_backwardedge WHERE followee_id = follower AND kind = 0
                AND follower_id = followee AND attribute = 3) THEN
            outcome := 'blocked';
        ELSIF EXISTS (SELECT FROM relations_followday
                WHERE account_id = follower AND day = today AND begun >= most_today) THEN
            outcome := 'too_many_today';
        ELSIF counters_value(follower, 0, 2) + counters_value(follower, 0, 7) >= most_follows THEN
            outcome := 'too_many';
        END IF;
        IF outcome IS NOT NULL THEN
            RETURN;
        END IF;
        INSERT INTO relations_followday AS d (account_id, day, begun) VALUES (follower, today, 1)
        ON CONFLICT (account_id) DO UPDATE SET
            begun = CASE WHEN d.day = excluded.day THEN d.begun + 1 ELSE 1 END, day = excluded.day;
    END IF;
    -- The edge, its counts, and the change, which mirrors the edge to the followee's shard.
    INSERT INTO relations_forwardedge
        (follower_id, kind, followee_id, attribute, revision, since_ms, flags)
    VALUES (follower, 0, followee, new_attribute, new_revision, new_since_ms, new_flags)
    ON CONFLICT (follower_id, kind, followee_id) DO UPDATE SET
        attribute = excluded.attribute, revision = excluded.revision,
        since_ms = excluded.since_ms, flags = excluded.flags;
    FOR n IN 1 .. array_length(moved, 1) LOOP
        SELECT * INTO count_value, count_version
        FROM counters_move(follower, 0, moved[n], deltas[n]);
        IF moved[n] = 2 THEN
            following_count := count_value;
            following_version := count_version;
        END IF;
    END LOOP;
    SELECT * INTO change_id, changed_at FROM changes_append(lane, change, follower,
        payload || jsonb_build_object(
            'before', following_version - 1, 'after', following_version));
    outcome := 'written';
END $$;
