"""Searches the public posts of one shard by words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from infra.sharding.sql import fetch_all
from posts.ids import FIRST, LAST, SEQUENCES, PostId

DAY = 86_400 * SEQUENCES  # moments
# The newest days are searched first, each by its own entries of the index. All other days are
# searched last, because a word that is rare in a month is rare at any time.
STEPS_DAYS = (3, 31)
# The condition is that of the index.
SEARCH = f"""
SELECT post.author_id, post.moment FROM (
    SELECT * FROM unnest(%(lowers)s::bigint[], %(uppers)s::bigint[], %(days)s::bigint[])
        AS one (lower, upper, day) ORDER BY upper DESC
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment FROM posts_post
    WHERE posts_words(text, spoiler_text, moment)
            @@ posts_word_query(%(text)s, step.day, (step.upper - 1) / {DAY})
        AND deleted_at IS NULL AND hidden_at IS NULL AND visibility = 0 AND kind < 2
        AND moment >= step.lower AND moment < step.upper
        AND (moment / {SEQUENCES}, author_id, moment) < (%(second)s, %(below)s, %(moment)s)
        AND (%(author)s::bigint IS NULL OR author_id = %(author)s)
        AND (%(tags)s::text[] IS NULL OR tags @> %(tags)s::text[])
    ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC LIMIT %(limit)s
) AS post LIMIT %(limit)s
"""  # noqa: S608


class WordSearch(NamedTuple):
    """A search of one shard for posts strictly between two ids.

    `author_id`: only posts of this author. `tags`: only posts with all of these.
    """

    text: str
    limit: int
    author_id: int | None = None
    above: PostId = FIRST
    below: PostId = LAST
    tags: Sequence[str] = ()


class SearchStep(NamedTuple):
    """Moments from `lower` to below `upper`. `day`: the first one, to be searched day by day; None:
    all days are searched at once."""

    lower: int
    upper: int
    day: int | None


def search_words(alias: str, search: WordSearch, now_second: int) -> list[PostId]:
    """The newest public posts of one shard that have all words, newest first.

    Deleted and hidden posts, and reposts, are not among them. Cost: one query by the index
    post_words. A frequent word costs the posts of a few days.
    """
    lowers, uppers, days = zip(*_steps(search, now_second), strict=True)
    params = {
        "text": search.text,
        "limit": search.limit,
        "author": search.author_id,
        "tags": list(search.tags) or None,
        "second": search.below.second,
        "below": search.below.author_id,
        "moment": search.below.moment,
        "lowers": list(lowers),
        "uppers": list(uppers),
        "days": list(days),
    }
    found = [PostId.at(*row) for row in fetch_all(alias, SEARCH, params)]
    return [post_id for post_id in found if post_id > search.above]


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
