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
