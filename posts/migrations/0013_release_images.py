"""Deleting a post can give its images back to the author, who writes the post again.

The change says so (`keeps_images`), so the function needs no new parameter.
"""

from importlib import import_module

from django.db import migrations

before = import_module("posts.migrations.0010_uncounted_direct_posts")
TOMBSTONE = "    -- The tombstone keeps"
RELEASE = """    IF (payload -> 'keeps_images')::boolean THEN
        PERFORM images_release(author, wanted_moment);
    END IF;
"""
DELETE = before.DELETE.replace(TOMBSTONE, RELEASE + TOMBSTONE)


class Migration(migrations.Migration):
    dependencies = [("posts", "0012_posts_with_images"), ("images", "0004_release_function")]

    operations = [migrations.RunSQL(DELETE, before.DELETE, hints={"placement": "sharded"})]
