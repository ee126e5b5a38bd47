"""Rows of the tag index say when they arrived, and those that arrived late get an index.

Rows from before get 0, which means "long ago".
"""

from django.db import migrations, models

# EPOCH of post ids: a row is late if it arrived three seconds after its second.
UP = """
ALTER TABLE tags_taggedpost ADD COLUMN arrival bigint NOT NULL DEFAULT 0;
ALTER TABLE tags_taggedpost
    ALTER COLUMN arrival SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
CREATE INDEX tags_taggedpost_late ON tags_taggedpost (tag_id, arrival)
    WHERE arrival > (second + 1767225600) * 1000 + 3000;
"""
DOWN = "ALTER TABLE tags_taggedpost DROP COLUMN arrival;"
FIELD = migrations.AddField("taggedpost", "arrival", models.BigIntegerField())


class Migration(migrations.Migration):
    dependencies = [("tags", "0001_initial")]

    operations = [
        migrations.RunSQL(UP, DOWN, state_operations=[FIELD], hints={"placement": "sharded"})
    ]
