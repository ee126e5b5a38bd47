-- The functions of counts, for the functions of other apps.

-- Moves a count, as counters/actions/move_counts.py.
CREATE OR REPLACE FUNCTION counters_move(
    owner bigint, about bigint, counted integer, delta bigint,
    OUT new_value bigint, OUT new_version bigint
) LANGUAGE plpgsql AS $$
DECLARE
    is_new boolean;
BEGIN
    -- The constraint holds for the inserted row too, before the conflict is found. So the version
    -- carries a loss, as 1 + loss.
    INSERT INTO counters_counter AS c (owner_id, subject, kind, value, version)
    VALUES (owner, about, counted, greatest(delta, 0), 1 - least(delta, 0))
    ON CONFLICT (owner_id, subject, kind) DO UPDATE SET
        version = c.version + 1, value = c.value + excluded.value - (excluded.version - 1)
    RETURNING c.value, c.version, c.xmax = 0 INTO new_value, new_version, is_new;
    IF is_new AND delta < 0 THEN
        RAISE check_violation USING MESSAGE = format(
            'a count without a row cannot be lowered: owner %s, subject %s, kind %s',
            owner, about, counted);
    END IF;
END $$;

-- Gives a count a value.
CREATE OR REPLACE FUNCTION counters_set(owner bigint, about bigint, counted integer, wanted bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found bigint := coalesce((SELECT value FROM counters_counter
        WHERE owner_id = owner AND subject = about AND kind = counted), 0);
BEGIN
    IF found <> wanted THEN
        PERFORM counters_move(owner, about, counted, wanted - found);
    END IF;
END $$;

-- A count; 0 without a row.
CREATE OR REPLACE FUNCTION counters_value(owner bigint, about bigint, counted integer) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce((SELECT value FROM counters_counter
        WHERE owner_id = owner AND subject = about AND kind = counted), 0);
END $$;

-- Locks a count until the end of the transaction, and creates a missing one. Returns its version.
CREATE OR REPLACE FUNCTION counters_lock(owner bigint, about bigint, counted integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    found_version bigint;
BEGIN
    LOOP
        SELECT version INTO found_version FROM counters_counter
        WHERE owner_id = owner AND subject = about AND kind = counted FOR NO KEY UPDATE;
        IF FOUND THEN
            RETURN found_version;
        END IF;
        -- Waits for another transaction that is creating it, and then finds that one.
        INSERT INTO counters_counter (owner_id, subject, kind, value, version)
        VALUES (owner, about, counted, 0, 0) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- Whether an account has postponed moves: then its next ones are postponed too.
CREATE OR REPLACE FUNCTION counters_is_postponed(owner bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (SELECT FROM counters_postponedmove WHERE owner_id = owner AND subject = 0);
END $$;

-- Writes a move of an account's count as a row of its own, as counters/actions/postpone.py.
-- `cause`: the other account.
CREATE OR REPLACE FUNCTION counters_postpone(
    owner bigint, moved integer, cause bigint, added bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO counters_postponedmove AS p (owner_id, subject, kind, about, delta)
    VALUES (owner, 0, moved, cause, added)
    ON CONFLICT (owner_id, subject, kind, about) DO UPDATE SET delta = p.delta + excluded.delta;
END $$;

-- What the cache of account counts stores: the sum of the versions, then the values of the kinds 1 to
-- 5 and 14. Volatile, so that a statement that moves counts in its FROM sees the moved ones.
CREATE OR REPLACE FUNCTION counters_account_entry(owner bigint) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT ARRAY[coalesce(sum(version), 0),
        coalesce(max(value) FILTER (WHERE kind = 1), 0),
        coalesce(max(value) FILTER (WHERE kind = 2), 0),
        coalesce(max(value) FILTER (WHERE kind = 3), 0),
        coalesce(max(value) FILTER (WHERE kind = 4), 0),
        coalesce(max(value) FILTER (WHERE kind = 5), 0),
        coalesce(max(value) FILTER (WHERE kind = 14), 0)]
        FROM counters_counter
        WHERE owner_id = owner AND subject = 0 AND kind IN (1, 2, 3, 4, 5, 14));
END $$;

-- Moves the counts of several subjects, and returns those subjects whose moves became rows of their own
-- (counters/actions/postpone.py): the hot ones, and those that have such rows already, so that no count
-- loses what it did not get yet. `causes`: the accounts whose rows move the counts. In the order of keys,
-- so that no two transactions wait for each other.
CREATE OR REPLACE FUNCTION counters_move_all(
    owners bigint[], subjects bigint[], kinds smallint[], causes bigint[], deltas bigint[],
    hot_owners bigint[], hot_subjects bigint[], OUT late_owners bigint[], OUT late_subjects bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    below_zero text;
BEGIN
    SELECT coalesce(array_agg(o), '{}'), coalesce(array_agg(s), '{}') INTO late_owners, late_subjects
    FROM (
        SELECT o, s FROM unnest(owners, subjects) AS m (o, s)
        WHERE (o, s) IN (SELECT * FROM unnest(hot_owners, hot_subjects))
            OR EXISTS (SELECT FROM counters_postponedmove WHERE owner_id = o AND subject = s)
        GROUP BY o, s
    ) AS late;
    INSERT INTO counters_postponedmove AS p (owner_id, subject, kind, about, delta)
    SELECT o, s, k, c, sum(d) FROM unnest(owners, subjects, kinds, causes, deltas) AS m (o, s, k, c, d)
    WHERE (o, s) IN (SELECT * FROM unnest(late_owners, late_subjects))
    GROUP BY o, s, k, c ORDER BY o, s, k, c
    ON CONFLICT (owner_id, subject, kind, about) DO UPDATE SET delta = p.delta + excluded.delta;
    WITH moved AS (
        INSERT INTO counters_counter AS c (owner_id, subject, kind, value, version)
        SELECT o, s, k, greatest(sum(d), 0), 1 - least(sum(d), 0)
        FROM unnest(owners, subjects, kinds, deltas) AS m (o, s, k, d)
        WHERE (o, s) NOT IN (SELECT * FROM unnest(late_owners, late_subjects))
        GROUP BY o, s, k ORDER BY o, s, k
        -- As in counters_move.
        ON CONFLICT (owner_id, subject, kind) DO UPDATE SET
            version = c.version + 1, value = c.value + excluded.value - (excluded.version - 1)
        RETURNING c.owner_id, c.subject, c.kind, c.version, c.xmax = 0 AS is_new
    )
    SELECT format('owner %s, subject %s, kind %s', owner_id, subject, kind) INTO below_zero
    FROM moved WHERE is_new AND version > 1 LIMIT 1;
    IF below_zero IS NOT NULL THEN
        RAISE check_violation USING
            MESSAGE = 'a count without a row cannot be lowered: ' || below_zero;
    END IF;
END $$;

-- Two transactions that move counts of one account at the same time would each read their own move only,
-- and give different entries the same version. So who returns an entry from the transaction of a move
-- holds the advisory lock of the account until the commit: the functions that lock the account have
-- it from the beginning. Others do not wait for it with rows locked: NULL if somebody has it.
CREATE OR REPLACE FUNCTION counters_entry_unless_held(owner bigint) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock(owner) THEN
        RETURN counters_account_entry(owner);
    END IF;
    RETURN NULL;
END $$;

-- Instead, after their own commit, they wait for the commits of the others and read it.
CREATE OR REPLACE FUNCTION counters_settled_entry(owner bigint) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(owner);
    RETURN counters_account_entry(owner);
END $$;

-- counters_move of many accounts at once: the sum of the deltas for each account and kind. In the order
-- of keys, so that no two transactions wait for each other. The caller holds the accounts
-- (counters_hold_each).
CREATE OR REPLACE FUNCTION counters_move_each(owners bigint[], kinds integer[], deltas bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    below_zero text;
BEGIN
    WITH moved AS (
        INSERT INTO counters_counter AS c (owner_id, subject, kind, value, version)
        SELECT o, 0, k, greatest(sum(d), 0), 1 - least(sum(d), 0)
        FROM unnest(owners, kinds, deltas) AS m (o, k, d) GROUP BY o, k ORDER BY o, k
        -- As in counters_move.
        ON CONFLICT (owner_id, subject, kind) DO UPDATE SET
            version = c.version + 1, value = c.value + excluded.value - (excluded.version - 1)
        RETURNING c.owner_id, c.kind, c.version, c.xmax = 0 AS is_new
    )
    SELECT format('owner %s, kind %s', owner_id, kind) INTO below_zero
    FROM moved WHERE is_new AND version > 1 LIMIT 1;
    IF below_zero IS NOT NULL THEN
        RAISE check_violation USING
            MESSAGE = 'a count without a row cannot be lowered: ' || below_zero;
    END IF;
END $$;

-- Waits for all writes that return entries of these accounts, and keeps others from returning one
-- until the commit. `owners`: in order.
CREATE OR REPLACE FUNCTION counters_hold_each(owners bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1 .. cardinality(owners) LOOP
        PERFORM pg_advisory_xact_lock(owners[n]);
    END LOOP;
END $$;

-- counters_lock of many accounts, in order.
CREATE OR REPLACE FUNCTION counters_lock_each(owners bigint[], counted integer) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO counters_counter (owner_id, subject, kind, value, version)
    SELECT o, 0, counted, 0, 0 FROM unnest(owners) AS o ORDER BY o ON CONFLICT DO NOTHING;
    PERFORM FROM counters_counter WHERE owner_id = ANY(owners) AND subject = 0 AND kind = counted
    ORDER BY owner_id FOR NO KEY UPDATE;
END $$;
