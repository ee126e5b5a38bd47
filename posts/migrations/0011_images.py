"""Posts take their images in the statement that writes or edits them.

`new_media` names the images by `id`; the row gets what `images_attach` returns for them. `refused` is
`media` if one of them is not the author's, or has another post.
"""

from importlib import import_module

from django.db import migrations

SHARDED = {"placement": "sharded"}
ATTACH = """
    IF new_media IS NOT NULL THEN
        new_media := images_attach(author, ARRAY(
            SELECT (one ->> 'id')::bigint FROM jsonb_array_elements(new_media) AS one
        ), {post});
        IF new_media IS NULL THEN
            refused := 'media';
            RETURN;
        END IF;
    END IF;
"""
COUNTS = import_module("posts.migrations.0010_uncounted_direct_posts")
EDITS = import_module("posts.migrations.0006_edits")
INSERT = "    INSERT INTO posts_post (author_id"
COMPARE = "    IF (old.text, old.sensitive"


def _replacing(sql: str) -> str:
    return sql.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)


def _with(sql: str, place: str, post: str) -> str:
    before, found, after = sql.partition(place)
    assert found
    return _replacing(before + ATTACH.format(post=post).lstrip("\n") + found + after)


PUBLISH = _with(COUNTS.PUBLISH, INSERT, "post_moment")
EDIT = _with(EDITS.EDIT, COMPARE, "wanted_moment")


class Migration(migrations.Migration):
    dependencies = [("posts", "0010_uncounted_direct_posts"), ("images", "0003_attach_again")]

    operations = [
        migrations.RunSQL(PUBLISH, _replacing(COUNTS.PUBLISH), hints=SHARDED),
        migrations.RunSQL(EDIT, _replacing(EDITS.EDIT), hints=SHARDED),
    ]
