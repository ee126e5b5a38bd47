"""`changes_append`: adds a change row inside a function of an app. See infra/changes/append.py."""

from django.db import migrations

APPEND = """
CREATE FUNCTION changes_append(
    lane integer, kind text, owner bigint, payload jsonb,
    OUT new_id bigint, OUT new_at timestamptz
) LANGUAGE sql AS $$
    INSERT INTO changes_change (lane, kind, owner_id, payload)
    VALUES (lane, kind, owner, payload) RETURNING id, created_at;
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_initial")]

    operations = [
        migrations.RunSQL(APPEND, "DROP FUNCTION changes_append(integer, text, bigint, jsonb);")
    ]
