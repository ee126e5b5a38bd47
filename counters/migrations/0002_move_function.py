"""`counters_move`: moves one count inside a function of another app. As counters.actions.move."""

from django.db import migrations

MOVE = """
CREATE FUNCTION counters_move(
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
"""


class Migration(migrations.Migration):
    dependencies = [("counters", "0001_initial")]

    operations = [
        migrations.RunSQL(
            MOVE,
            "DROP FUNCTION counters_move(bigint, bigint, integer, bigint);",
            hints={"placement": "sharded"},
        )
    ]
