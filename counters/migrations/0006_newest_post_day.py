"""`counters_set`: gives a count a value, inside a function of another app.

`counters_account_entry`: what the cache of account counts stores, with the kind 14. Code of the
version before calls `counters_of_account`, which stays as it is.
"""

from django.db import migrations

SHARDED = {"placement": "sharded"}
SET = """
CREATE FUNCTION counters_set(owner bigint, about bigint, counted integer, wanted bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found bigint := coalesce((SELECT value FROM counters_counter
        WHERE owner_id = owner AND subject = about AND kind = counted), 0);
BEGIN
    IF found <> wanted THEN
        PERFORM counters_move(owner, about, counted, wanted - found);
    END IF;
END $$;
"""
ENTRY = """
CREATE FUNCTION counters_account_entry(owner bigint) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
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
"""


class Migration(migrations.Migration):
    dependencies = [("counters", "0005_account_function")]

    operations = [
        migrations.RunSQL(SET, "DROP FUNCTION counters_set;", hints=SHARDED),
        migrations.RunSQL(ENTRY, "DROP FUNCTION counters_account_entry;", hints=SHARDED),
    ]
