"""The index for searching public posts by words. Posts are written while it is built.

It is an index on an expression, as account_names. On a shard that needs longer for it than
STATEMENT_TIMEOUT_MS, run the statement of CREATE_INDEX with psql after the functions exist. The
migration keeps an index that is whole, and replaces one whose build was cut off.

A later release must not change these functions, because the index contains their results. It adds
functions and an index with new names.
"""

from django.db import migrations

# Each word of the first 3,000 characters, without what is longer than 60 characters, and each word
# again with its day: so the newest posts with a frequent word are found without the older ones.
# '~' is in no word. 111974400: moments of a day.
WORDS = """
CREATE OR REPLACE FUNCTION posts_words(body text, spoiler text, at bigint) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    WITH words AS (
        SELECT left(word, 60) AS word
        FROM unnest(accounts_words(left(spoiler || ' ' || body, 3000))) AS word
    )
    SELECT array_to_tsvector(ARRAY(
        SELECT word FROM words UNION ALL SELECT '~' || at / 111974400 || ':' || word FROM words));
END;
"""
# All of the first eight words, on any day from first_day to last_day, or on any day at all.
QUERY = """
CREATE OR REPLACE FUNCTION posts_word_query(raw text, first_day bigint, last_day bigint)
RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg(of_day, ' | ')::tsquery FROM (
        SELECT '(' || string_agg(
            '''' || CASE WHEN day IS NULL THEN '' ELSE '~' || day || ':' END || left(word, 60) || '''',
            ' & ') || ')' AS of_day
        FROM unnest((accounts_words(raw))[1:8]) AS word,
            (SELECT generate_series(first_day, last_day) AS day
            UNION ALL SELECT NULL WHERE first_day IS NULL) AS days
        GROUP BY day) AS every
);
"""
DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('post_words') AND NOT indisvalid) THEN
        DROP INDEX post_words;
    END IF;
END $$;
"""
# 0: Visibility.PUBLIC; 0 and 1: Kind.POST and Kind.REPLY
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_words
    ON posts_post USING gin (posts_words(text, spoiler_text, moment))
    WHERE deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0008_muted_threads"), ("accounts", "0003_name_search")]

    operations = [
        migrations.RunSQL(WORDS, "DROP FUNCTION posts_words;", hints=SHARDED),
        migrations.RunSQL(QUERY, "DROP FUNCTION posts_word_query;", hints=SHARDED),
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(CREATE_INDEX, "DROP INDEX post_words;", hints=SHARDED),
    ]
