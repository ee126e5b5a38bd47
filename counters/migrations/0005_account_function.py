"""`counters_of_account`: what the cache of account counts stores, for statements that write."""

from django.db import migrations

# The sum of the versions, then the values of the kinds 1 to 5. Volatile, so that a statement that
# moves counts in its FROM sees the moved ones here.
OF_ACCOUNT = """
CREATE FUNCTION counters_of_account(owner bigint) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT ARRAY[coalesce(sum(version), 0),
        coalesce(max(value) FILTER (WHERE kind = 1), 0),
        coalesce(max(value) FILTER (WHERE kind = 2), 0),
        coalesce(max(value) FILTER (WHERE kind = 3), 0),
        coalesce(max(value) FILTER (WHERE kind = 4), 0),
        coalesce(max(value) FILTER (WHERE kind = 5), 0)]
        FROM counters_counter WHERE owner_id = owner AND subject = 0 AND kind BETWEEN 1 AND 5);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("counters", "0004_postponed_moves")]

    operations = [
        migrations.RunSQL(
            OF_ACCOUNT, "DROP FUNCTION counters_of_account;", hints={"placement": "sharded"}
        )
    ]
