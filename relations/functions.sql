-- The write of a forward edge, and the writes of backward edges. Each is one function, so that a request
-- needs one round trip for it.
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
    new_since_ms bigint, new_flags integer, new_languages text[],
    most_follows bigint, today bigint, most_today bigint,
    moved integer[], deltas integer[], lane integer, change text, payload jsonb,
    OUT outcome text, OUT old_attribute integer, OUT old_revision bigint, OUT old_since_ms bigint,
    OUT old_flags integer, OUT old_languages text[], OUT following_count bigint, OUT following_version bigint,
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
    SELECT attribute, revision, since_ms, flags, languages
    INTO old_attribute, old_revision, old_since_ms, old_flags, old_languages
    FROM relations_forwardedge
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
        (follower_id, kind, followee_id, attribute, revision, since_ms, flags, languages)
    VALUES (follower, 0, followee, new_attribute, new_revision, new_since_ms, new_flags, new_languages)
    ON CONFLICT (follower_id, kind, followee_id) DO UPDATE SET
        attribute = excluded.attribute, revision = excluded.revision,
        since_ms = excluded.since_ms, flags = excluded.flags, languages = excluded.languages;
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

-- Writes one backward edge from a forward edge, and only over an older revision. The holder of the
-- row's lock may have been another one that inserted it; then this one finds it, and does not insert.
-- Also an edge that is here already is hidden if the followee blocks the follower by now.
-- Arrays: attribute, revision, since_ms, flags. `edge`: NULL if nothing had to be written. `opposite`:
-- the followee's own edge, read after the row was locked.
CREATE OR REPLACE FUNCTION relations_mirror_edge(
    follower bigint, followee bigint, new_attribute integer, new_revision bigint,
    new_since_ms bigint, new_flags integer,
    OUT old bigint[], OUT edge bigint[], OUT opposite bigint[]
) LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        SELECT ARRAY[attribute, revision, since_ms, flags] INTO old FROM relations_backwardedge
        WHERE followee_id = followee AND kind = 0 AND follower_id = follower FOR NO KEY UPDATE;
        SELECT ARRAY[attribute, revision, since_ms, flags] INTO opposite
        FROM relations_forwardedge
        WHERE follower_id = followee AND kind = 0 AND followee_id = follower;
        edge := ARRAY[new_attribute, new_revision, new_since_ms, new_flags];
        IF new_revision <= coalesce(old[2], 0) THEN
            edge := old;
        END IF;
        -- As relations/states.py: as_seen_by_followee. 3: Attribute.BLACK; a follow or a request.
        IF opposite[1] = 3 AND edge[1] IN (1, 2, 4, 5) THEN
            edge := ARRAY[0, edge[2], edge[3], 0];
        END IF;
        IF edge IS NOT DISTINCT FROM old THEN
            edge := NULL;
            RETURN;
        END IF;
        IF old IS NOT NULL THEN
            UPDATE relations_backwardedge SET
                attribute = edge[1], revision = edge[2], since_ms = edge[3], flags = edge[4]
            WHERE followee_id = followee AND kind = 0 AND follower_id = follower;
            RETURN;
        END IF;
        INSERT INTO relations_backwardedge
            (follower_id, kind, followee_id, attribute, revision, since_ms, flags)
        VALUES (follower, 0, followee, edge[1], edge[2], edge[3], edge[4])
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            RETURN;
        END IF;
    END LOOP;
END $$;

-- Writes backward edges, and moves their counts (relations/actions/mirror.py). The arrays of the edges
-- are in the order of the rows: by followee, then by follower. `cold`: the followees whose counts are
-- locked, in order; those of the others are written very often, and their moves are postponed.
-- `states`, `kinds`: which counts (`kinds`) an edge is part of, by its attribute. `lane`, `change`,
-- `payload`: the change that adds postponed moves up.
--
-- `locks_accounts`: locks the cold followees too, for blocks. Returns a row for each edge that was
-- written, and a row without a follower for each followee: `list_version` of the followers list, and
-- `counts` for the cache, NULL if they are to be read after the commit; or for postponed moves the change.
CREATE OR REPLACE FUNCTION relations_mirror(
    followers bigint[], followees bigint[], attributes integer[], revisions bigint[],
    sinces_ms bigint[], all_flags integer[], cold bigint[], states integer[], kinds integer[],
    locks_accounts boolean, lane integer, change text, payload jsonb
) RETURNS TABLE (
    follower bigint, followee bigint, old bigint[], edge bigint[], opposite bigint[],
    list_version bigint, counts bigint[], change_id bigint, changed_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    owners bigint[] := '{}';
    others bigint[] := '{}';
    befores bigint[] := '{}';
    afters bigint[] := '{}';
    versions bigint[] := '{}';
    postponed bigint[];
    moved record;
BEGIN
    IF locks_accounts THEN
        FOREACH followee IN ARRAY cold LOOP
            PERFORM accounts_lock(followee);
        END LOOP;
    END IF;
    -- 1: CounterKind.FOLLOWERS
    FOREACH followee IN ARRAY cold LOOP
        versions := versions || counters_lock(followee, 0, 1);
    END LOOP;
    FOR n IN 1 .. cardinality(followers) LOOP
        follower := followers[n];
        followee := followees[n];
        SELECT * INTO old, edge, opposite FROM relations_mirror_edge(
            follower, followee, attributes[n], revisions[n], sinces_ms[n], all_flags[n]);
        IF edge IS NOT NULL THEN
            owners := owners || followee;
            others := others || follower;
            befores := befores || coalesce(old[1], 0);
            afters := afters || edge[1];
            RETURN NEXT;
        END IF;
    END LOOP;
    -- After the rows: a row that was waited for may have come with a postponed move.
    postponed := ARRAY(SELECT DISTINCT o FROM unnest(owners) AS o
        WHERE o <> ALL(cold) OR counters_is_postponed(o) ORDER BY o);
    -- A move by zero is for the version of the list.
    FOR moved IN
        SELECT owner, kind, other, sum((state = after)::integer - (state = before)::integer) AS delta
        FROM unnest(owners, others, befores, afters) AS written (owner, other, before, after)
        CROSS JOIN unnest(states, kinds) AS counted (state, kind)
        WHERE owner = ANY(postponed) GROUP BY owner, kind, other ORDER BY owner, kind, other
    LOOP
        IF moved.delta <> 0 OR moved.kind = 1 THEN
            PERFORM counters_postpone(moved.owner, moved.kind, moved.other, moved.delta);
        END IF;
    END LOOP;
    FOR moved IN
        SELECT owner, kind, sum((state = after)::integer - (state = before)::integer) AS delta
        FROM unnest(owners, befores, afters) AS written (owner, before, after)
        CROSS JOIN unnest(states, kinds) AS counted (state, kind)
        WHERE owner <> ALL(postponed) GROUP BY owner, kind ORDER BY owner, kind
    LOOP
        IF moved.kind = 1 THEN
            versions[array_position(cold, moved.owner)] :=
                (SELECT new_version FROM counters_move(moved.owner, 0, 1, moved.delta));
        ELSIF moved.delta <> 0 THEN
            PERFORM counters_move(moved.owner, 0, moved.kind, moved.delta);
        END IF;
    END LOOP;
    follower := NULL;
    FOREACH followee IN ARRAY postponed LOOP
        SELECT * INTO change_id, changed_at
        FROM changes_append(lane, change, followee, payload);
        RETURN NEXT;
    END LOOP;
    change_id := NULL;
    FOR n IN 1 .. cardinality(cold) LOOP
        followee := cold[n];
        IF followee <> ALL(postponed) THEN
            list_version := versions[n];
            counts := counters_entry_unless_held(followee);
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- What an import would do with each follow. The arrays are in the order of the followers; a pair comes
-- once. `are_dated`: the time is from the other system. `outcome`:
--
--     write                  the follow begins
--     same                   it is on already
--     ended                  it ended here, and did not begin again since, as far as is known
--     blocking, blocked      one of the two blocks the other
--     too_many               the follower would follow more than `most_follows`
CREATE OR REPLACE FUNCTION relations_judge_follows(
    followers bigint[], followees bigint[], sinces_ms bigint[], are_dated boolean[],
    most_follows bigint
) RETURNS TABLE (n integer, outcome text, old_attribute integer, old_revision bigint)
-- As relations_mirror_follows.
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    RETURN QUERY
    WITH known AS (
        SELECT w.n, w.follower, coalesce(e.attribute, 0)::integer AS attribute,
            coalesce(e.revision, 0) AS revision,
            CASE
                WHEN e.attribute = 3 THEN 'blocking'
                WHEN b.attribute = 3 THEN 'blocked'
                WHEN e.attribute IN (1, 2) THEN 'same'
                WHEN e.attribute = 0 AND NOT (w.is_dated AND w.since > e.since_ms) THEN 'ended'
                ELSE 'write'
            END AS fate
        FROM unnest(followers, followees, sinces_ms, are_dated) WITH ORDINALITY
            AS w (follower, followee, since, is_dated, n)
        LEFT JOIN LATERAL (
            SELECT f.attribute, f.revision, f.since_ms FROM relations_forwardedge AS f
            WHERE f.follower_id = w.follower AND f.kind = 0 AND f.followee_id = w.followee LIMIT 1
        ) AS e ON true
        -- 3: Attribute.BLACK, mirrored.
        LEFT JOIN LATERAL (
            SELECT m.attribute FROM relations_backwardedge AS m
            WHERE m.followee_id = w.follower AND m.kind = 0 AND m.follower_id = w.followee LIMIT 1
        ) AS b ON true
    ), room AS (
        SELECT f.follower,
            most_follows - counters_value(f.follower, 0, 2) - counters_value(f.follower, 0, 7) AS free
        FROM (SELECT DISTINCT known.follower FROM known WHERE fate = 'write') AS f
    )
    -- A request counts already.
    SELECT k.n::integer, CASE
        WHEN fate = 'write' AND room.free < sum((fate = 'write' AND attribute NOT IN (4, 5))::integer)
            OVER (PARTITION BY k.follower ORDER BY k.n) THEN 'too_many' ELSE fate END,
        k.attribute, k.revision
    FROM known AS k LEFT JOIN room USING (follower);
END $$;

-- Writes imported follows of accounts of this shard, with their counts and the change that mirrors them.
-- `all_languages`: of each follow, with commas between them; empty: all. `states`, `kinds`: which counts
-- an edge is part of, by its attribute. Returns what was not written:
-- the numbers, from 1, and the outcomes of relations_judge_follows.
CREATE OR REPLACE FUNCTION relations_import_follows(
    followers bigint[], followees bigint[], sinces_ms bigint[], are_dated boolean[],
    attributes integer[], all_flags integer[], all_languages text[], most_follows bigint,
    states integer[], kinds integer[], lane integer, change text, payload jsonb,
    OUT others integer[], OUT outcomes text[], OUT change_id bigint
) LANGUAGE plpgsql AS $$
DECLARE
    begun integer[];
    befores integer[];
    revisions bigint[];
BEGIN
    PERFORM accounts_lock_each(ARRAY(SELECT DISTINCT f FROM unnest(followers) AS f ORDER BY f));
    SELECT array_agg(n) FILTER (WHERE outcome <> 'write'),
        array_agg(outcome) FILTER (WHERE outcome <> 'write'),
        array_agg(n ORDER BY n) FILTER (WHERE outcome = 'write'),
        array_agg(old_attribute ORDER BY n) FILTER (WHERE outcome = 'write'),
        array_agg(old_revision ORDER BY n) FILTER (WHERE outcome = 'write')
    INTO others, outcomes, begun, befores, revisions
    FROM relations_judge_follows(followers, followees, sinces_ms, are_dated, most_follows);
    IF begun IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO relations_forwardedge
        (follower_id, kind, followee_id, attribute, revision, since_ms, flags, languages)
    SELECT followers[n], 0, followees[n], attributes[n], revision + 1, sinces_ms[n], all_flags[n],
        nullif(string_to_array(all_languages[n], ','), '{}')
    FROM unnest(begun, revisions) AS w (n, revision) ORDER BY 1, 3
    ON CONFLICT (follower_id, kind, followee_id) DO UPDATE SET
        attribute = excluded.attribute, revision = excluded.revision,
        since_ms = excluded.since_ms, flags = excluded.flags, languages = excluded.languages;
    PERFORM counters_move_each(array_agg(owner), array_agg(kind), array_agg(delta))
    FROM (
        SELECT followers[n] AS owner, kind, (state = after)::integer - (state = before)::integer AS delta
        FROM (SELECT n, attributes[n] AS after, before FROM unnest(begun, befores) AS w (n, before))
            AS written
        CROSS JOIN unnest(states, kinds) AS counted (state, kind)
        WHERE state IN (before, after)
    ) AS moves;
    SELECT new_id INTO change_id FROM changes_append(lane, change, followers[begun[1]], payload
        || jsonb_build_object('followers', (SELECT jsonb_agg(followers[n]) FROM unnest(begun) AS n),
            'followees', (SELECT jsonb_agg(followees[n]) FROM unnest(begun) AS n)));
END $$;

-- Writes the backward edges of imported follows, as relations_mirror for many followees at once: only
-- over an older revision, and hidden from a followee who blocks the follower. No edge is or was a block.
-- Of several states of one edge the newest holds.
-- Returns how many were written.
--
-- A row that does not exist cannot be locked. If another transaction creates one at the same time, this
-- is an error of serialization, and nothing is written.
CREATE OR REPLACE FUNCTION relations_mirror_follows(
    followers bigint[], followees bigint[], attributes integer[], revisions bigint[],
    sinces_ms bigint[], all_flags integer[], states integer[], kinds integer[]
) RETURNS bigint LANGUAGE plpgsql
-- By the key, in subqueries that no plan can turn around: before the first ANALYZE a table that grows
-- looks small, and a join with it would read all of it.
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    owners bigint[] := ARRAY(SELECT DISTINCT f FROM unnest(followees) AS f ORDER BY f);
    newer integer[];
    befores integer[];
    afters integer[];
    added bigint;
    written bigint;
    created bigint;
BEGIN
    PERFORM counters_hold_each(owners);
    -- 1: CounterKind.FOLLOWERS. A block locks it too, so all blocks are seen.
    PERFORM counters_lock_each(owners, 1);
    -- In the order of the arrays: by followee, then by follower.
    PERFORM (SELECT old.revision FROM relations_backwardedge AS old
        WHERE old.followee_id = w.followee AND old.kind = 0 AND old.follower_id = w.follower
        FOR NO KEY UPDATE)
    FROM unnest(followers, followees) AS w (follower, followee);
    -- 3: Attribute.BLACK
    SELECT array_agg(n), array_agg(coalesce(old.attribute, 0)),
        array_agg(CASE WHEN opposite.attribute = 3 THEN 0 ELSE attributes[n] END),
        count(*) FILTER (WHERE old.followee_id IS NULL)
    INTO newer, befores, afters, added
    FROM (
        SELECT DISTINCT ON (followee, follower) *
        FROM unnest(followers, followees, revisions) WITH ORDINALITY AS w (follower, followee, revision, n)
        ORDER BY followee, follower, revision DESC
    ) AS w
    LEFT JOIN LATERAL (
        SELECT b.followee_id, b.attribute, b.revision FROM relations_backwardedge AS b
        WHERE b.followee_id = w.followee AND b.kind = 0 AND b.follower_id = w.follower LIMIT 1
    ) AS old ON true
    LEFT JOIN LATERAL (
        SELECT f.attribute FROM relations_forwardedge AS f
        WHERE f.follower_id = w.followee AND f.kind = 0 AND f.followee_id = w.follower LIMIT 1
    ) AS opposite ON true
    WHERE w.revision > coalesce(old.revision, 0);
    IF newer IS NULL THEN
        RETURN 0;
    END IF;
    WITH rows AS (
        INSERT INTO relations_backwardedge AS old
            (follower_id, kind, followee_id, attribute, revision, since_ms, flags)
        SELECT followers[n], 0, followees[n], after, revisions[n], sinces_ms[n],
            CASE after WHEN 0 THEN 0 ELSE all_flags[n] END
        FROM unnest(newer, afters) AS w (n, after) ORDER BY 3, 1
        ON CONFLICT (followee_id, kind, follower_id) DO UPDATE SET
            attribute = excluded.attribute, revision = excluded.revision,
            since_ms = excluded.since_ms, flags = excluded.flags
        WHERE old.revision < excluded.revision
        RETURNING old.xmax = 0 AS is_new
    )
    SELECT count(*), count(*) FILTER (WHERE is_new) INTO written, created FROM rows;
    IF written <> cardinality(newer) OR created <> added THEN
        RAISE serialization_failure USING MESSAGE = 'another transaction mirrors a follow';
    END IF;
    -- A move of the followers count by zero is for the version of the list.
    PERFORM counters_move_each(array_agg(owner), array_agg(kind), array_agg(delta))
    FROM (
        SELECT followees[n] AS owner, kind, (state = after)::integer - (state = before)::integer AS delta
        FROM unnest(newer, befores, afters) AS w (n, before, after)
        CROSS JOIN unnest(states, kinds) AS counted (state, kind)
        WHERE state IN (before, after)
        UNION ALL SELECT followees[n], 1, 0 FROM unnest(newer) AS n
    ) AS moves;
    RETURN written;
END $$;
