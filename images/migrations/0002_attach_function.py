"""`images_attach`: makes uploaded images part of a post, inside a function of another app.

It returns the JSON of their Attachments in the order of `wanted`. NULL, and nothing changes, if one
of them is not an unattached image of this account, or if one is named twice.
"""

from django.db import migrations

ATTACH = """
CREATE FUNCTION images_attach(owner bigint, wanted bigint[], post bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    -- The lock: the job that removes unused images skips them, or has removed them already.
    PERFORM FROM images_storedimage
    WHERE owner_id = owner AND id = ANY(wanted) AND purpose = 0 AND used_by IS NULL
        AND remove_after > now()
    FOR UPDATE;
    IF (SELECT count(*) FROM images_storedimage
        WHERE owner_id = owner AND id = ANY(wanted) AND purpose = 0 AND used_by IS NULL
            AND remove_after > now()) <> cardinality(wanted) THEN
        RETURN NULL;
    END IF;
    UPDATE images_storedimage SET used_by = post, remove_after = NULL
    WHERE owner_id = owner AND id = ANY(wanted);
    RETURN coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'token', token, 'facts', facts,
            'description', description, 'focus', jsonb_build_array(focus_x, focus_y))
            ORDER BY array_position(wanted, id))
        FROM images_storedimage WHERE owner_id = owner AND id = ANY(wanted)), '[]'::jsonb);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("images", "0001_initial")]

    operations = [
        migrations.RunSQL(
            ATTACH,
            "DROP FUNCTION images_attach(bigint, bigint[], bigint);",
            hints={"placement": "sharded"},
        )
    ]
