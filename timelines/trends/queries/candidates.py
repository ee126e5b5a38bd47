"""What may be a trend: the tags and the marks of the newest public posts of all shards."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from infra.sharding.buckets import owned_condition
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import RECENT_MARKS, RECENT_TAGS
from timelines.trends.types import MarkedPost, UsedTag

DAY_S = 86_400
TAGS_OF_S, POSTS_OF_S = DAY_S, 2 * DAY_S
# Of each shard: so many of the newest public posts are read, and so many rows returned.
MOST_READ, MOST_RETURNED = 10_000, 200


def list_used_tags(now_s: float) -> list[UsedTag]:
    """The tags of the last day with their accounts, the most used first.

    Shards that do not answer are left out. Raises: OperationalError, InterfaceError if none does.
    Cost: one query on each shard, by the index of public posts.
    """
    accounts: Counter[str] = Counter()
    for rows in _ask(RECENT_TAGS, now_s - TAGS_OF_S):
        accounts.update(dict(rows))  # an author is on one shard
    return [UsedTag(name, count) for name, count in accounts.most_common(MOST_RETURNED)]


def list_marked_posts(now_s: float) -> list[MarkedPost]:
    """The posts of the last two days with the most marks of each shard. Otherwise as
    `list_used_tags`; the counts are read by key."""
    return [
        MarkedPost(PostId.at(author_id, moment), marks)
        for rows in _ask(RECENT_MARKS, now_s - POSTS_OF_S)
        for author_id, moment, marks in rows
    ]


def _ask(sql: str, since_s: float) -> Sequence[Sequence[Any]]:
    params = (second_of(since_s) * SEQUENCES, MOST_READ, MOST_RETURNED)
    calls = {
        alias: partial(
            fetch_all, alias, sql.format(owned=owned_condition(alias, "author_id")), params
        )
        for alias in shard_aliases()
    }
    return list(scatter_available(calls).values())
