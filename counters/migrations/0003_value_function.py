"""`counters_value`: one count, for the functions of other apps. 0 without a row."""

from django.db import migrations

VALUE = """
CREATE FUNCTION counters_value(owner bigint, about bigint, counted integer) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce((SELECT value FROM counters_counter
        WHERE owner_id = owner AND subject = about AND kind = counted), 0);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("counters", "0002_move_function")]

    operations = [
        migrations.RunSQL(
            VALUE, "DROP FUNCTION counters_value;", hints={"placement": "sharded"}
        )
    ]
