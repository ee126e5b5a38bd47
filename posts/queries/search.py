"""Searches the public posts of one shard by words."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from infra.caching.costly_searches import search_once
from posts.ids import FIRST, LAST, SEQUENCES, PostId

DAY = 86_400 * SEQUENCES  # moments
# Newest posts first: so many, then those of so many days, each day by its own entries of the index.
# All other days are searched last, because a word that is rare in a month is rare at any time.
NEWEST = 500
STEPS_DAYS = (3, 31)
# The conditions of both indexes.
_PUBLIC = "deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2"
# What a search asks for: `wanted` and `unwanted`, as they are in the searched text of a post.
PATTERNS = """ARRAY(
        SELECT posts_pattern(one) FROM unnest(
            string_to_array(btrim(posts_spaced(%(text)s)), ' ') || %(phrases)s::text[]) AS one
    ) AS wanted, ARRAY(
        SELECT posts_pattern(one) FROM unnest(%(unwanted)s::text[]) AS one
    ) AS unwanted"""
# Whether the texts of a post have all that is wanted, and nothing that is unwanted.
MATCHES = """(
        SELECT (SELECT bool_and(strpos(words, one) > 0) FROM unnest(wanted) AS one) IS NOT FALSE
            AND (SELECT bool_or(strpos(words, one) > 0) FROM unnest(unwanted) AS one) IS NOT TRUE
        FROM (SELECT posts_searched(posts_texts(text, poll, media), spoiler_text) AS words
            OFFSET 0) AS searched
    )"""
# The index finds candidates. Words next to each other, unwanted words, long words and long runs are
# compared with the texts of the candidates, newest first, no more than the limit needs (OFFSET 0).
# `moment + 0`: post_public is not used there, because each of its posts would need its terms made.
SEARCH = f"""
WITH asked AS MATERIALIZED (
    SELECT *, cardinality(unwanted) + cardinality(%(phrases)s::text[]) = 0
        AND cardinality(wanted) <= 8 AND NOT EXISTS (SELECT FROM unnest(wanted) AS one
            WHERE char_length(one) > CASE WHEN one LIKE ' %%' THEN 62 ELSE 2 END) AS is_exact
    FROM (SELECT {PATTERNS} OFFSET 0) AS patterns
)
SELECT post.author_id, post.moment FROM asked CROSS JOIN (
    SELECT lower, upper, CASE WHEN lower >= %(by_day_from)s THEN lower / {DAY} END AS day
    FROM (
        SELECT bound AS upper, lead(bound) OVER (ORDER BY bound DESC) AS lower
        FROM unnest(%(bounds)s::bigint[] || {{newest}}) AS bound
    ) AS every WHERE lower < upper ORDER BY upper DESC
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment FROM (
        SELECT author_id, moment, text, poll, media, spoiler_text FROM posts_post
        WHERE {_PUBLIC} AND moment + 0 >= step.lower AND moment + 0 < step.upper
            AND {{conditions}}
        ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC OFFSET 0
    ) AS candidate
    WHERE is_exact OR {MATCHES}
    LIMIT %(limit)s
) AS post LIMIT %(limit)s
"""  # noqa: S608
# Where the newest posts begin, which are not older than the days of the next step.
_NEWEST_BOUND = f"""greatest(%(newest_from)s, (
    SELECT moment FROM posts_post WHERE {_PUBLIC} AND moment < %(upper)s
    ORDER BY moment DESC OFFSET {NEWEST} LIMIT 1))"""  # noqa: S608
_HAS_TERMS = f"""posts_terms(text, poll, media, spoiler_text, moment)
    @@ posts_term_query(%(text)s, step.day, (step.upper - 1) / {DAY})"""
_IN_LANGUAGES = """(lower(language) = ANY(%({0})s::text[])
    OR lower(split_part(language, '-', 1)) = ANY(%({0})s::text[])) IS {1} TRUE"""
# Each is part of the statement if its parameter is given: fewer conditions are planned faster.
CONDITIONS = {
    "before": f"(moment / {SEQUENCES}, author_id, moment) < (%(second)s, %(before)s, %(moment)s)",
    "author": "author_id = %(author)s",
    "others": "author_id <> ALL(%(others)s::bigint[])",
    "tags": "tags @> %(tags)s::text[]",
    "unwanted_tags": "(tags && %(unwanted_tags)s::text[]) IS NOT TRUE",
    "has_media": "(media IS NOT NULL) = %(has_media)s",
    "has_poll": "(poll IS NOT NULL) = %(has_poll)s",
    "is_reply": "(kind = 1) = %(is_reply)s",
    "is_sensitive": "sensitive = %(is_sensitive)s",
    "languages": _IN_LANGUAGES.format("languages", ""),
    "unwanted_languages": _IN_LANGUAGES.format("unwanted_languages", "NOT"),
}


class PostWords(NamedTuple):
    """What posts must have, and must not have.

    `text`: all words of it, in any order, also those of phrases and tags. `phrases`: their words
    are next to each other. `tags`: normalized. `unwanted`: words and phrases.
    """

    text: str
    phrases: Sequence[str] = ()
    tags: Sequence[str] = ()
    unwanted: Sequence[str] = ()
    unwanted_tags: Sequence[str] = ()


class PostTraits(NamedTuple):
    """What posts must be (True), or must not be (False); None: both are found.

    `languages`: one of these, in lower case; `en` is also the language of `en-GB`.
    """

    has_media: bool | None = None
    has_poll: bool | None = None
    is_reply: bool | None = None
    is_sensitive: bool | None = None
    languages: Sequence[str] = ()
    unwanted_languages: Sequence[str] = ()


ANY_POST = PostTraits()


class WordSearch(NamedTuple):
    """A search of one shard for posts strictly between two ids.

    `author_id`: only posts of this author. `unwanted_author_ids`: no posts of these.
    """

    words: PostWords
    limit: int
    author_id: int | None = None
    unwanted_author_ids: Sequence[int] = ()
    above: PostId = FIRST
    below: PostId = LAST
    traits: PostTraits = ANY_POST


def search_words(alias: str, search: WordSearch, now_second: int) -> list[PostId]:
    """The newest public posts of one shard that have the words, newest first.

    Without words: none, but all posts of a wanted author. Deleted and hidden posts, and reposts,
    are not among them. Cost: one query by the indexes post_public and post_terms. A frequent word
    costs its posts among the newest NEWEST, a less frequent one those of a few days. Unwanted and
    neighbouring words are compared in these posts, until enough are found. Raises: SearchTooCostly.
    """
    params = conditions_of(search)
    sql = _statement(tuple(params), has_author=search.author_id is not None)
    params |= _steps_of(search, now_second)
    words = search.words
    params |= {"text": words.text, "phrases": list(words.phrases), "unwanted": list(words.unwanted)}
    rows = search_once(alias, sql, params | {"limit": search.limit}, search._replace(limit=0))
    ids = [PostId.at(*row) for row in rows]
    return [post_id for post_id in ids if post_id > search.above]


def conditions_of(search: WordSearch) -> dict[str, Any]:
    """The parameters of the CONDITIONS that the search has, by their names."""
    before, words = search.below, search.words
    lists = {
        "others": search.unwanted_author_ids,
        "tags": words.tags,
        "unwanted_tags": words.unwanted_tags,
        "languages": search.traits.languages,
        "unwanted_languages": search.traits.unwanted_languages,
    }
    params: dict[str, Any] = {name: list(values) for name, values in lists.items() if values}
    if before < LAST:
        params |= {"second": before.second, "before": before.author_id, "moment": before.moment}
    values = {"author": search.author_id, **search.traits._asdict()}
    return params | {n: v for n, v in values.items() if v is not None and n not in lists}


@cache
def _statement(names: Sequence[str], has_author: bool) -> str:
    """With the conditions of these names. An author's posts need no words, and only one step."""
    has_terms = f"({_HAS_TERMS} OR posts_pattern(%(text)s) IS NULL)" if has_author else _HAS_TERMS
    conditions = [has_terms, *(sql for name, sql in CONDITIONS.items() if name in names)]
    newest = "'{}'" if has_author else _NEWEST_BOUND
    return SEARCH.format(newest=newest, conditions=" AND ".join(conditions))


def _steps_of(search: WordSearch, now_second: int) -> dict[str, Any]:
    """Where the steps begin and end, newest first. The posts of one author need only one step."""
    lowest = search.above.second * SEQUENCES
    upper = max(lowest, min(search.below.second, now_second) * SEQUENCES) + DAY
    starts = [max(lowest, (upper // DAY - days) * DAY) for days in STEPS_DAYS]
    if search.author_id is not None:
        return {"bounds": [upper, lowest], "by_day_from": upper}
    return {
        "bounds": [upper, *starts, lowest],
        "by_day_from": starts[-1],
        "newest_from": starts[0],
        "upper": upper,
    }
