"""Searches the public posts of one shard by words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from infra.sharding.sql import fetch_all
from posts.ids import FIRST, LAST, SEQUENCES, PostId

DAY = 86_400 * SEQUENCES  # moments
# The newest days are searched first, each by its own entries of the index. All other days are
# searched last, because a word that is rare in a month is rare at any time.
STEPS_DAYS = (3, 31)
# The index finds candidates; the pages of a few of them are read to compare the words exactly. The
# condition on rows is that of the index. OFFSET 0: candidates are compared in their order, and no
# more than the limit needs.
SEARCH = f"""
WITH asked AS MATERIALIZED (
    SELECT ARRAY(
        SELECT posts_pattern(one) FROM unnest(
            string_to_array(btrim(posts_spaced(%(text)s)), ' ') || %(phrases)s::text[]) AS one
    ) AS wanted, ARRAY(
        SELECT posts_pattern(one) FROM unnest(%(unwanted)s::text[]) AS one
    ) AS unwanted
)
SELECT post.author_id, post.moment FROM asked CROSS JOIN (
    SELECT * FROM unnest(%(lowers)s::bigint[], %(uppers)s::bigint[], %(days)s::bigint[])
        AS one (lower, upper, day) ORDER BY upper DESC
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment FROM (
        SELECT author_id, moment, posts_texts(text, poll, media) AS texts, spoiler_text
        FROM posts_post
        WHERE (%(author)s::bigint IS NOT NULL AND posts_pattern(%(text)s) IS NULL
                OR posts_terms(posts_texts(text, poll, media), spoiler_text, moment)
                    @@ posts_term_query(%(text)s, step.day, (step.upper - 1) / {DAY}))
            AND deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2
            AND moment >= step.lower AND moment < step.upper
            AND (moment / {SEQUENCES}, author_id, moment) < (%(second)s, %(below)s, %(moment)s)
            AND (%(author)s::bigint IS NULL OR author_id = %(author)s)
            AND author_id <> ALL(%(others)s::bigint[])
            AND (%(tags)s::text[] IS NULL OR tags @> %(tags)s::text[])
            AND (tags && %(unwanted_tags)s::text[]) IS NOT TRUE
            AND (%(has_media)s::bool IS NULL OR (media IS NOT NULL) = %(has_media)s)
            AND (%(has_poll)s::bool IS NULL OR (poll IS NOT NULL) = %(has_poll)s)
            AND (%(is_reply)s::bool IS NULL OR (kind = 1) = %(is_reply)s)
            AND (%(is_sensitive)s::bool IS NULL OR sensitive = %(is_sensitive)s)
            AND (%(languages)s::text[] IS NULL OR lower(language) = ANY(%(languages)s)
                OR lower(split_part(language, '-', 1)) = ANY(%(languages)s))
            AND (lower(language) = ANY(%(unwanted_languages)s::text[])
                OR lower(split_part(language, '-', 1)) = ANY(%(unwanted_languages)s)) IS NOT TRUE
        ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC OFFSET 0
    ) AS candidate CROSS JOIN LATERAL (
        SELECT posts_searched(texts, spoiler_text) AS words OFFSET 0) AS searched
    WHERE (SELECT bool_and(strpos(words, one) > 0) FROM unnest(wanted) AS one) IS NOT FALSE
        AND (SELECT bool_or(strpos(words, one) > 0) FROM unnest(unwanted) AS one) IS NOT TRUE
    LIMIT %(limit)s
) AS post LIMIT %(limit)s
"""  # noqa: S608


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


class SearchStep(NamedTuple):
    """Moments from `lower` to below `upper`. `day`: the first one, to be searched day by day; None:
    all days are searched at once."""

    lower: int
    upper: int
    day: int | None


def search_words(alias: str, search: WordSearch, now_second: int) -> list[PostId]:
    """The newest public posts of one shard that have the words, newest first.

    Without words: none, but all posts of a wanted author. Deleted and hidden posts, and reposts,
    are not among them. Cost: one query by the index post_terms. A frequent word costs the posts of
    a few days. Unwanted and neighbouring words are compared in these posts, until enough are found.
    """
    lowers, uppers, days = zip(*_steps(search, now_second), strict=True)
    words, below = search.words, search.below
    params = {
        "text": words.text,
        "phrases": list(words.phrases),
        "unwanted": list(words.unwanted),
        "limit": search.limit,
        "author": search.author_id,
        "others": list(search.unwanted_author_ids),
        "tags": list(words.tags) or None,
        "unwanted_tags": list(words.unwanted_tags),
        **search.traits._asdict(),
        "languages": list(search.traits.languages) or None,
        "unwanted_languages": list(search.traits.unwanted_languages),
        "second": below.second,
        "below": below.author_id,
        "moment": below.moment,
        "lowers": list(lowers),
        "uppers": list(uppers),
        "days": list(days),
    }
    ids = [PostId.at(*row) for row in fetch_all(alias, SEARCH, params)]
    return [post_id for post_id in ids if post_id > search.above]


def _steps(search: WordSearch, now_second: int) -> Iterator[SearchStep]:
    """From the newest moments to the oldest. The posts of one author need only one step."""
    lowest = search.above.second * SEQUENCES
    upper = max(lowest, min(search.below.second, now_second) * SEQUENCES) + DAY
    if search.author_id is None:
        newest_day = upper // DAY
        for days in STEPS_DAYS:
            lower = max(lowest, (newest_day - days) * DAY)
            yield SearchStep(lower, upper, lower // DAY)
            upper = lower
    yield SearchStep(lowest, max(lowest, upper), None)
