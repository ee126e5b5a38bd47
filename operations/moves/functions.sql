-- The function of the guards of moves.

-- Refuses a write to rows that are moving while the guard of the move is closed here. Its argument
-- is the id of the move. The shared lock is held until the writer commits, so whoever gets the lock
-- alone knows that no such writer is left. The move itself passes: it deletes copies.
CREATE OR REPLACE FUNCTION moves_refuse_if_closed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_open boolean;
BEGIN
    IF current_setting('tideline.move', true) IS DISTINCT FROM TG_ARGV[0] THEN
        PERFORM pg_advisory_xact_lock_shared(1836021349, TG_ARGV[0]::integer);
        SELECT closed_until <= clock_timestamp() INTO is_open
        FROM moves_guard WHERE move = TG_ARGV[0]::bigint;
        IF is_open IS NOT TRUE THEN
            RAISE EXCEPTION 'move % has closed these rows of %', TG_ARGV[0], TG_TABLE_NAME
                USING ERRCODE = 'TL001';
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END;
$$;
