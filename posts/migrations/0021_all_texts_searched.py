"""The index of words has every text of a post: also options of polls, and descriptions of images.

Between the two indexes, searches read all posts. See 0017 about building it on a large shard.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("posts.migrations.0017_search_terms")
# Without the descriptions of images that moderators hid.
TEXTS = """
CREATE OR REPLACE FUNCTION posts_texts(body text, poll jsonb, media jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN body
    || coalesce((SELECT string_agg(' ' || option, '')
        FROM jsonb_array_elements_text(poll -> 'options') AS option), '')
    || coalesce((SELECT string_agg(' ' || (image ->> 'description'), '')
        FROM jsonb_array_elements(media) AS image
        WHERE (image ->> 'is_hidden') IS DISTINCT FROM 'true'), '');
"""
CREATE_INDEX = BEFORE.CREATE_INDEX.replace(
    "posts_terms(text,", "posts_terms(posts_texts(text, poll, media),"
)
DROP_INDEX = "DROP INDEX CONCURRENTLY IF EXISTS post_terms;"
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0020_edited_polls")]

    operations = [
        migrations.RunSQL(TEXTS, "DROP FUNCTION posts_texts(text, jsonb, jsonb);", hints=SHARDED),
        migrations.RunSQL(DROP_INDEX, BEFORE.CREATE_INDEX, hints=SHARDED),
        migrations.RunSQL(CREATE_INDEX, DROP_INDEX, hints=SHARDED),
    ]
