"""A function that gives the images of a deleted post back to their owner, for a new post.

They are kept for a day, as other images without a post.
"""

from django.db import migrations

RELEASE = """
CREATE FUNCTION images_release(owner bigint, post bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE images_storedimage SET used_by = NULL, remove_after = now() + interval '1 day'
    WHERE owner_id = owner AND used_by = post AND remove_after IS NULL;
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("images", "0003_attach_again")]

    operations = [
        migrations.RunSQL(
            RELEASE, "DROP FUNCTION images_release;", hints={"placement": "sharded"}
        )
    ]
