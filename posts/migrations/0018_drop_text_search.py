"""Removes the index for searches of migration 0009, after 0017 has built the one that replaces it."""

from importlib import import_module

from django.db import migrations

# Second step: no release has searched by post_words. Code from before 0017 cannot search posts.
BEFORE = import_module("posts.migrations.0009_text_search")
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0017_search_terms")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS post_words;", BEFORE.CREATE_INDEX, hints=SHARDED
        ),
        migrations.RunSQL("DROP FUNCTION IF EXISTS posts_words;", BEFORE.WORDS, hints=SHARDED),
        migrations.RunSQL("DROP FUNCTION IF EXISTS posts_word_query;", BEFORE.QUERY, hints=SHARDED),
    ]
