-- The functions of accounts: the lock of an account, and the words that people are searched by.
-- The index account_names contains results of the search functions. So a released version never
-- changes them: it adds functions and an index with new names.

-- The row lock of an account, for the functions that write. False: no such account.
CREATE OR REPLACE FUNCTION accounts_lock(account bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    -- NO KEY: statements that insert foreign keys to the row do not wait.
    PERFORM FROM accounts_account WHERE id = account FOR NO KEY UPDATE;
    IF FOUND THEN
        -- For the counts that the function returns: counters/functions.sql.
        PERFORM pg_advisory_xact_lock(account);
        RETURN true;
    END IF;
    RETURN false;
END $$;

-- The row locks of several accounts. `accounts`: in order. Returns how many of them exist.
CREATE OR REPLACE FUNCTION accounts_lock_each(accounts bigint[]) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    known bigint[];
BEGIN
    known := ARRAY(SELECT id FROM accounts_account WHERE id = ANY(accounts)
        ORDER BY id FOR NO KEY UPDATE);
    PERFORM counters_hold_each(known);
    RETURN cardinality(known);
END $$;

-- Small letters without accents. PostgreSQL's lower() knows only ASCII letters in a database with
-- the locale C. After NFKD a letter with accents is the letter and its marks. So only capitals of
-- other alphabets are left for translate().
CREATE OR REPLACE FUNCTION accounts_fold(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- Most texts are ASCII, and then the short way is enough.
RETURN CASE WHEN octet_length(raw) = char_length(raw) THEN lower(raw) ELSE lower(translate(
    regexp_replace(normalize(raw, NFKD), '[\u0300-\u036f]', '', 'g'), 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ', 'αβγδεζηθικλμνξοπρστυφχψωђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ'
)) END;

-- Punctuation and blanks separate words. All other characters are part of words, also signs. The
-- index cannot hold a word of more than 2,046 bytes, so it has the first 60 characters of each.
CREATE OR REPLACE FUNCTION accounts_words(raw text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT left(word, 60) FROM unnest(regexp_split_to_array(accounts_fold(raw),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+')) AS word
    WHERE word <> '');

-- Parts of three letters. '~' is in no word, so trigrams and words do not meet.
CREATE OR REPLACE FUNCTION accounts_trigrams(part text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(
    SELECT '~' || substr(part, n, 3) FROM generate_series(1, char_length(part) - 2) AS n);

-- What the index has: the words of both names, the whole username, and the trigrams of ^word$.
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

-- A query: each of the first eight words must begin a word of the names.
CREATE OR REPLACE FUNCTION accounts_beginnings(raw text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT string_agg('''' || word || ''':*', ' & ')::tsquery
    FROM unnest((accounts_words(raw))[1:8]) AS word);

-- A query: words that share all trigrams of one half with a word of four or more letters, or contain
-- it. One wrong letter is in one half only. Shorter words as in accounts_beginnings.
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
