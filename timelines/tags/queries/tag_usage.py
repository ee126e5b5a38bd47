"""How a tag is used: by day, and by one author. Both are bounded, and neither is cached."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import EPOCH
from posts.sql import TAGS_OF_AUTHOR
from timelines.tags.types import TagUse

DAYS, DAY_S = 7, 86_400
# The newest posts of a tag that are counted, and those of an author that are looked at.
MOST_COUNTED, MOST_OF_AUTHOR = 1_000, 1_000
RECENT = """
SELECT wanted.tag_id, post.second, post.author_id FROM unnest(%s::bigint[]) AS wanted (tag_id)
CROSS JOIN LATERAL (
    SELECT second, author_id FROM tags_taggedpost
    WHERE tag_id = wanted.tag_id AND second >= %s
    ORDER BY second DESC, author_id DESC, sequence DESC LIMIT %s
) AS post
"""


def load_histories(tag_ids: Iterable[int], now_s: float) -> dict[int, list[dict[str, str]]]:
    """By tag: uses and accounts of each of the last DAYS days (UTC), today first.

    Of a tag with more than MOST_COUNTED posts in these days, only the newest are counted. Cost: one
    index-only query on each shard that has one of the tags.
    """
    first = (int(now_s // DAY_S) - DAYS + 1) * DAY_S - EPOCH
    groups = group_by_shard(dict.fromkeys(tag_ids))
    calls = {
        alias: partial(fetch_all, alias, RECENT, (ids, first, MOST_COUNTED))
        for alias, ids in groups.items()
    }
    uses: dict[int, list[tuple[int, int]]] = {i: [] for ids in groups.values() for i in ids}
    for rows in scatter(calls).values():
        for tag_id, second, author_id in rows:
            uses[tag_id].append(((second + EPOCH) // DAY_S, author_id))
    return {tag_id: _count_by_day(pairs, int(now_s // DAY_S)) for tag_id, pairs in uses.items()}


def _count_by_day(uses: Sequence[tuple[int, int]], today: int) -> list[dict[str, str]]:
    """`uses`: the day and the author of each post."""
    posts = Counter(day for day, _ in uses)
    users = Counter(day for day, _ in set(uses))
    return [
        {"day": str(day * DAY_S), "uses": str(posts[day]), "accounts": str(users[day])}
        for day in range(today, today - DAYS, -1)
    ]


def count_uses(author_id: int, names: Collection[str]) -> dict[str, TagUse]:
    """How often the author used each of these tags in the newest MOST_OF_AUTHOR posts with tags.

    One query on the author's shard.
    """
    used = _read_uses(author_id)
    return {name: used.get(name, TagUse(0, None)) for name in names}


def list_most_used(author_id: int, count: int) -> list[str]:
    """The tags that the author used most lately, the most used first. One query."""
    used = _read_uses(author_id)
    return sorted(used, key=lambda name: (-used[name].uses, name))[:count]


def date_of(moment_s: int) -> str:
    return f"{datetime.fromtimestamp(moment_s, UTC):%Y-%m-%d}"


def _read_uses(author_id: int) -> dict[str, TagUse]:
    uses: dict[str, TagUse] = {}
    rows = fetch_all(shard_of(author_id), TAGS_OF_AUTHOR, (author_id, MOST_OF_AUTHOR))
    for moment, tags in rows:  # newest first
        for name in tags:
            known = uses.get(name)
            uses[name] = TagUse(known.uses + 1, known.last_moment) if known else TagUse(1, moment)
    return uses
