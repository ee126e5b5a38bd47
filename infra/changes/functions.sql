-- The function of the change table.

-- Adds a change row inside a function of an app, as infra/changes/append.py.
CREATE OR REPLACE FUNCTION changes_append(
    lane integer, kind text, owner bigint, payload jsonb,
    OUT new_id bigint, OUT new_at timestamptz
) LANGUAGE sql AS $$
    INSERT INTO changes_change (lane, kind, owner_id, payload)
    VALUES (lane, kind, owner, payload) RETURNING id, created_at;
$$;
