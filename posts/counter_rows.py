"""Registers the rows that each count of posts counts, and the cache of post counts."""

from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.registry import CountCache, CountedRows, register_count_cache, register_counted_rows
from posts.cache.by_post import number_of
from posts.cache.counts import ALL_KINDS, entry_of_post, post_counts
from posts.ids import PostId
from posts.types import IS_REACTION, REACTIONS, Kind

# Not direct posts: neither the count nor the day must tell that there are any.
_shown = CountedRows("posts_post", "author_id", "deleted_at IS NULL AND visibility < 3")
register_counted_rows(CounterKind.POSTS, _shown)
register_counted_rows(
    CounterKind.NEWEST_POST_DAY, _shown._replace(value="posts_day_of(max(moment))")
)

# Counts of one post: the responses that record_responses wrote.
for _kind, _response in (
    (CounterKind.REPLIES, Kind.REPLY),
    (CounterKind.REPOSTS, Kind.REPOST),
    (CounterKind.QUOTES, Kind.QUOTE),
):
    _where = f"kind = {int(_response)} AND is_on"
    register_counted_rows(
        _kind, CountedRows("posts_response", "author_id", _where, subject="moment")
    )
_reactions = CountedRows(
    "posts_response",
    "author_id",
    f"{IS_REACTION} AND is_on",
    subject="moment",
    kind=f"CASE kind WHEN {Kind.FAVOURITE:d} THEN {CounterKind.FAVOURITES:d} ELSE kind END",
)
for _kind in REACTIONS.values():
    register_counted_rows(_kind, _reactions)
register_counted_rows(
    CounterKind.VIEWER_MARKS, CountedRows("posts_viewermark", "owner_id", "is_on")
)


def _number(subject: Subject) -> int | None:
    """The cache key of a post. Subject 0 is the account itself; no post has the moment 0."""
    author_id, moment = subject
    return number_of(PostId.at(author_id, moment)) if moment else None


register_count_cache(CountCache(post_counts, ALL_KINDS, _number, entry_of_post))
