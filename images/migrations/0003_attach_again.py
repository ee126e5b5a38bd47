"""`images_attach` for edits: images that the post has already stay, and hidden ones stay hidden."""

from importlib import import_module

from django.db import migrations

ATTACH = """
CREATE OR REPLACE FUNCTION images_attach(owner bigint, wanted bigint[], post bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    found integer;
BEGIN
    -- The lock: the job that removes unused images skips them, or has removed them already.
    PERFORM FROM images_storedimage
    WHERE owner_id = owner AND id = ANY(wanted) AND purpose = 0
        AND (used_by IS NULL AND remove_after > now() OR used_by = post)
    FOR UPDATE;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF found <> cardinality(wanted) THEN
        RETURN NULL;
    END IF;
    UPDATE images_storedimage SET used_by = post, remove_after = NULL
    WHERE owner_id = owner AND id = ANY(wanted);
    RETURN coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'token', token, 'facts', facts,
            'description', description, 'focus', jsonb_build_array(focus_x, focus_y),
            'is_hidden', hidden_at IS NOT NULL)
            ORDER BY array_position(wanted, id))
        FROM images_storedimage WHERE owner_id = owner AND id = ANY(wanted)), '[]'::jsonb);
END $$;
"""
BEFORE = import_module("images.migrations.0002_attach_function")


class Migration(migrations.Migration):
    dependencies = [("images", "0002_attach_function")]

    operations = [
        migrations.RunSQL(
            ATTACH,
            BEFORE.ATTACH.replace("CREATE ", "CREATE OR REPLACE ", 1),
            hints={"placement": "sharded"},
        )
    ]
