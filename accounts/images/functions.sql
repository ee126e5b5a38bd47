-- The functions of images, for the functions of posts.

-- Makes uploaded images part of a post. Returns the JSON of their Attachments in the order of
-- `wanted`. NULL, and nothing changes, if one of them is not an unattached image of this account, is
-- hidden by moderators, or is named twice. Images that the post has already stay.
CREATE OR REPLACE FUNCTION images_attach(owner bigint, wanted bigint[], post bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    found integer;
BEGIN
    -- The lock: the job that removes unused images skips them, or has removed them already.
    PERFORM FROM images_storedimage
    WHERE owner_id = owner AND id = ANY(wanted) AND purpose = 0
        AND (used_by IS NULL AND remove_after > now() AND hidden_at IS NULL OR used_by = post)
    FOR UPDATE;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF found <> cardinality(wanted) THEN
        RETURN NULL;
    END IF;
    UPDATE images_storedimage SET used_by = post, remove_after = NULL
    WHERE owner_id = owner AND id = ANY(wanted);
    RETURN coalesce((SELECT jsonb_agg(jsonb_build_object('id', id,
            'token', coalesce(public_token, token), 'facts', facts, 'description', description, 'focus', jsonb_build_array(focus_x, focus_y),
            'is_hidden', hidden_at IS NOT NULL)
            ORDER BY array_position(wanted, id))
        FROM images_storedimage WHERE owner_id = owner AND id = ANY(wanted)), '[]'::jsonb);
END $$;

-- Gives the images of a deleted post back to their owner, for a new post, for a day. Their addresses
-- end: the owner alone gets the new ones.
CREATE OR REPLACE FUNCTION images_release(owner bigint, post bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE images_storedimage SET used_by = NULL, remove_after = now() + interval '1 day',
        of_hidden_post = false, public_token = replace(gen_random_uuid()::text, '-', '')
    WHERE owner_id = owner AND used_by = post AND remove_after IS NULL;
END $$;
