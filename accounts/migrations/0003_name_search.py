"""The index for searching accounts by name. Sign-ups and edits continue while it is built.

It is an index on an expression, so no column has to be filled, and every writer of a profile keeps
it true. On a shard that needs longer for it than STATEMENT_TIMEOUT_MS, run the statement of
CREATE_INDEX with psql after the functions exist. The migration keeps an index that is whole, and
replaces one whose build was cut off.

A later release must not change these functions, because the index contains their results. It adds
functions and an index with new names.
"""

from django.db import migrations

# PostgreSQL's lower() knows only ASCII letters in a database with the locale C. After NFKD a letter
# with accents is the letter and its marks. So only capitals of other alphabets are left for this.
CAPITALS = (
    "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ"  # noqa: RUF001
    "ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ"
)
SMALL = "".join(letter.lower() for letter in CAPITALS)
FOLD = rf"""
CREATE OR REPLACE FUNCTION accounts_fold(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- Most texts are ASCII, and then the short way is enough.
RETURN CASE WHEN octet_length(raw) = char_length(raw) THEN lower(raw) ELSE lower(translate(
    regexp_replace(normalize(raw, NFKD), '[\u0300-\u036f]', '', 'g'), '{CAPITALS}', '{SMALL}'
)) END;
"""
# Punctuation and blanks separate words. All other characters are part of words, also signs.
WORDS = r"""
CREATE OR REPLACE FUNCTION accounts_words(raw text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN array_remove(regexp_split_to_array(accounts_fold(raw),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+'), '');
"""
# '~' is in no word, so trigrams and words do not meet.
TRIGRAMS = """
CREATE OR REPLACE FUNCTION accounts_trigrams(part text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(
    SELECT '~' || substr(part, n, 3) FROM generate_series(1, char_length(part) - 2) AS n);
"""
# The words of both names, the whole username, and the trigrams of ^word$.
NAMES = """
CREATE OR REPLACE FUNCTION accounts_names(username text, display_name text) RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    WITH words AS (
        SELECT unnest(accounts_words(username || ' ' || display_name)) AS word
        UNION SELECT accounts_fold(username)
    )
    SELECT array_to_tsvector(ARRAY(
        SELECT word FROM words WHERE word <> ''
        UNION SELECT unnest(accounts_trigrams('^' || word || '$')) FROM words WHERE word <> ''));
END;
"""
# Each of the first eight words must begin a word of the names.
BEGINNINGS = """
CREATE OR REPLACE FUNCTION accounts_beginnings(raw text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT string_agg('''' || word || ''':*', ' & ')::tsquery
    FROM unnest((accounts_words(raw))[1:8]) AS word);
"""
# Words that share all trigrams of one half with a word of four or more letters, or contain it. One
# wrong letter is in one half only. Shorter words as in accounts_beginnings.
SIMILAR = """
CREATE OR REPLACE FUNCTION accounts_similar(raw text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT string_agg(CASE WHEN char_length(word) < 4 THEN '''' || word || ''':*' ELSE
        '((''' || array_to_string(accounts_trigrams(word), ''' & ''')
        || ''') | (''' || array_to_string(accounts_trigrams(head), ''' & ''')
        || ''') | (''' || array_to_string(accounts_trigrams(tail), ''' & ''') || '''))'
        END, ' & ')::tsquery
    FROM unnest((accounts_words(raw))[1:8]) AS word,
        LATERAL (SELECT (char_length(word) + 2) / 2 AS half) AS cut,
        LATERAL (SELECT substr('^' || word, 1, half) AS head,
            substr('^' || word || '$', half + 1) AS tail) AS halves
);
"""
FUNCTIONS = {
    "accounts_fold(text)": FOLD,
    "accounts_words(text)": WORDS,
    "accounts_trigrams(text)": TRIGRAMS,
    "accounts_names(text, text)": NAMES,
    "accounts_beginnings(text)": BEGINNINGS,
    "accounts_similar(text)": SIMILAR,
}
DROP_UNFINISHED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index
            WHERE indexrelid = to_regclass('account_names') AND NOT indisvalid) THEN
        DROP INDEX account_names;
    END IF;
END $$;
"""
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS account_names
    ON accounts_account USING gin (accounts_names(username, display_name));
"""
SHARDED = {"placement": "sharded"}


class Migration(migrations.Migration):
    atomic = False  # CONCURRENTLY runs outside of transactions
    dependencies = [("accounts", "0002_lock_function")]

    operations = [
        *(
            migrations.RunSQL(sql, f"DROP FUNCTION {name};", hints=SHARDED)
            for name, sql in FUNCTIONS.items()
        ),
        migrations.RunSQL(DROP_UNFINISHED, migrations.RunSQL.noop, hints=SHARDED),
        migrations.RunSQL(CREATE_INDEX, "DROP INDEX account_names;", hints=SHARDED),
    ]
