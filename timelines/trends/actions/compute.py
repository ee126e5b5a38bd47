"""Computes the trends: what is used more than usual, and what many people mark now."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from infra.sharding.buckets import owned_condition
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import RECENT_MARKS, RECENT_TAGS
from timelines.tags.queries.tag_usage import load_histories
from timelines.tags.types import tag_id_of
from timelines.trends.cache import keep_trends
from timelines.trends.types import MarkedPost, Trends, UsedTag

DAY_S = 86_400
TAGS_OF_S, POSTS_OF_S = DAY_S, 2 * DAY_S
# Of each shard: so many of the newest public posts are read, and so many rows returned.
MOST_READ, MOST_RETURNED = 10_000, 200
# Fewer are no trend: one person, or two who agree.
LEAST_ACCOUNTS, LEAST_MARKS = 3, 3
# More than the API returns, because a viewer may not see all posts.
MOST_TAGS, MOST_POSTS = 40, 200
HALF_LIFE_S = 12 * 3_600


def compute_trends(now_s: float) -> Trends:
    """Computes and keeps them. Safety: a run that dies leaves the trends of the one before; several
    at once keep about the same.

    Raises: OperationalError, InterfaceError, RedisError. Cost: two queries on each shard, one more
    on the shards of MOST_TAGS tags, and a round trip to Redis.
    """
    used = [tag for tag in list_used_tags(now_s) if tag.accounts >= LEAST_ACCOUNTS][:MOST_TAGS]
    ids = {tag.name: tag_id_of(tag.name) for tag in used}
    histories = load_histories(ids.values(), now_s)
    usual = {name: _usual_accounts(histories[tag_id]) for name, tag_id in ids.items()}
    marked = [post for post in list_marked_posts(now_s) if post.marks >= LEAST_MARKS]
    trends = Trends(_best_tags(used, usual), _best_posts(marked, now_s))
    keep_trends(trends)
    return trends


def _usual_accounts(history: Sequence[Mapping[str, str]]) -> float:
    """A day's accounts before today, at least one."""
    before = history[1:]
    return max(1.0, sum(int(day["accounts"]) for day in before) / len(before))


def _best_tags(used: Sequence[UsedTag], usual: Mapping[str, float]) -> list[str]:
    """By how much more accounts use a tag than usually, as Mastodon compares them."""

    def score(tag: UsedTag) -> float:
        more = tag.accounts - usual[tag.name]
        return more**2 / usual[tag.name] if more > 0 else 0.0

    best = sorted(used, key=lambda tag: (-score(tag), tag.name))
    return [tag.name for tag in best if score(tag)]


def _best_posts(marked: Sequence[MarkedPost], now_s: float) -> list[str]:
    """By marks; after HALF_LIFE_S a post needs twice as many to be in the same place."""

    def score(post: MarkedPost) -> float:
        age_s = max(0.0, now_s - post.post_id.posted_at_s)
        return float(post.marks * 0.5 ** (age_s / HALF_LIFE_S))

    best = sorted(marked, key=lambda post: (-score(post), post.post_id))
    return [post.post_id.public for post in best[:MOST_POSTS]]


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
