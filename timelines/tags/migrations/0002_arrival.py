"""Rows of the tag index say when they arrived. Rows from before get 0, which means "long ago"."""

from django.db import migrations, models

ADD = """
ALTER TABLE tags_taggedpost ADD COLUMN arrival bigint NOT NULL DEFAULT 0;
ALTER TABLE tags_taggedpost
    ALTER COLUMN arrival SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
"""
REMOVE = "ALTER TABLE tags_taggedpost DROP COLUMN arrival;"
FIELD = migrations.AddField("taggedpost", "arrival", models.BigIntegerField())


class Migration(migrations.Migration):
    dependencies = [("tags", "0001_initial")]

    operations = [
        migrations.RunSQL(ADD, REMOVE, state_operations=[FIELD], hints={"placement": "sharded"})
    ]
