r"""The index for searching public posts by words, also in scripts without blanks.

As posts/migrations/0009_text_search.py, which migration 0018 removes: an index on an expression,
built while posts are written. On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run
the statement of CREATE_INDEX with psql after the functions exist. The migration keeps an index that
is whole, and replaces one whose build was cut off.

A later release must not change these functions, because the index contains their results. It adds
functions and an index with new names.
"""

from django.db import migrations

# Characters of scripts that put no blank between words: Thai and Lao; Burmese; Hangul; Khmer; Han
# with its two signs for repetition and zero, kana and bopomofo.
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\uac00-\ud7ff\u1780-\u17d3\u17dc-\u17ff"
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
# Blanks and punctuation, also of Armenian, Hebrew, Arabic, the scripts of India, Tibetan, Burmese,
# Ethiopic, Khmer and Japanese. All other characters are part of words, also signs.
SEPARATORS = (
    r"\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u055a-\u055f\u0589\u05be\u060c\u061b"
    r"\u061f\u066a-\u066d\u06d4\u0964\u0965\u0f0b-\u0f14\u104a-\u104f\u1361-\u1368\u17d4-\u17da"
    r"\u2000-\u206f\u3000-\u3004\u3008-\u303f\u30a0\u30fb"
)
# ' two words ': one blank before and after each word. A run of characters without blanks is a word,
# also next to a letter. NFC puts together what accounts_fold took apart: syllables of Hangul.
SPACED = rf"""
CREATE OR REPLACE FUNCTION posts_spaced(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(' ' ||
    CASE WHEN octet_length(raw) = char_length(raw) THEN lower(raw) ELSE
        regexp_replace(normalize(accounts_fold(raw), NFC), '([{UNSPACED}]+)', ' \1 ', 'g') END
    || ' ', '[{SEPARATORS}]+', ' ', 'g');
"""
# Only the first 3,000 characters of a post are searched. Folding can make a text longer.
SEARCHED = """
CREATE OR REPLACE FUNCTION posts_searched(body text, spoiler text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ' ' || btrim(left(posts_spaced(left(spoiler || ' ' || body, 3000)), 3000)) || ' ';
"""
# abc: ab, bc, c. So a text with many characters has the pairs of each part of it.
PAIRS = """
CREATE OR REPLACE FUNCTION posts_pairs(run text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT substr(run, place, 2) FROM generate_series(1, char_length(run)) AS place);
"""
# Each word, without what is longer than 60 characters, and the pairs of runs; and each of these
# again with its day: so the newest posts with a frequent word are found without the older ones.
# '~' is in no word. 111974400: moments of a day.
TERMS = rf"""
CREATE OR REPLACE FUNCTION posts_terms(body text, spoiler text, at bigint) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    WITH words AS (
        SELECT unnest(string_to_array(btrim(posts_searched(body, spoiler)), ' ')) AS word
    ), terms AS (
        SELECT left(word, 60) AS term FROM words WHERE word <> '' AND word !~ '^[{UNSPACED}]'
        UNION ALL SELECT unnest(posts_pairs(word)) FROM words WHERE word ~ '^[{UNSPACED}]'
    )
    SELECT array_to_tsvector(ARRAY(
        SELECT term FROM terms UNION ALL SELECT '~' || at / 111974400 || ':' || term FROM terms));
END;
"""
# All of the first eight terms, on any day from first_day to last_day, or on any day at all. One
# character that is a whole run is the beginning of a pair.
QUERY = rf"""
CREATE OR REPLACE FUNCTION posts_term_query(raw text, first_day bigint, last_day bigint)
RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH words AS (
        SELECT word, word ~ '^[{UNSPACED}]' AS is_run, char_length(word) AS length
        FROM unnest(string_to_array(btrim(posts_spaced(raw)), ' ')) AS word WHERE word <> ''
    ), terms AS (
        SELECT term, CASE WHEN is_run AND length = 1 THEN ''':*' ELSE '''' END AS ending
        FROM words, unnest(CASE WHEN NOT is_run THEN ARRAY[left(word, 60)]
            ELSE trim_array(posts_pairs(word), least(1, length - 1)) END) AS term
        LIMIT 8
    ), days AS (
        SELECT '~' || day || ':' AS day FROM generate_series(first_day, last_day) AS day
        UNION ALL SELECT '' WHERE first_day IS NULL
    )
    SELECT string_agg(of_day, ' | ')::tsquery FROM (
        SELECT '(' || string_agg('''' || day || term || ending, ' & ') || ')' AS of_day
        FROM terms, days GROUP BY day) AS every;
END;
"""
# What posts_searched contains if and only if the post has these words next to each other. A word is
# a whole one, and a run any part of a run. NULL without words.
PATTERN = rf"""
CREATE OR REPLACE FUNCTION posts_pattern(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN nullif(regexp_replace(posts_spaced(raw), '^ (?=[{UNSPACED}])|(?<=[{UNSPACED}]) $', '', 'g'), ' ');
"""  # noqa: E501
FUNCTIONS = {
    "posts_spaced(text)": SPACED,
    "posts_searched(text, text)": SEARCHED,
    "posts_pairs(text)": PAIRS,
    "posts_terms(text, text, bigint)": TERMS,
    "posts_term_query(text, bigint, bigint)": QUERY,
    "posts_pattern(text)": PATTERN,
}
DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('post_terms') AND NOT indisvalid) THEN
        DROP INDEX post_terms;
    END IF;
END $$;
"""
# 0: Visibility.PUBLIC; 0 and 1: Kind.POST and Kind.REPLY
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_terms
    ON posts_post USING gin (posts_terms(text, spoiler_text, moment))
    WHERE deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2;
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("posts", "0016_further_votes"), ("accounts", "0003_name_search")]

    operations = [
        *(
            migrations.RunSQL(sql, f"DROP FUNCTION {name};", hints=SHARDED)
            for name, sql in FUNCTIONS.items()
        ),
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(CREATE_INDEX, "DROP INDEX post_terms;", hints=SHARDED),
    ]
