"""Followers of large accounts, as rows and live timelines only. Needs Django: for the backstage.

They are no accounts, so they are gone before audits run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from infra.caching.client import redis
from infra.caching.keys import keys
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId
from relations.sql import BACKWARD_TABLE, INSERT_FOLLOWERS
from timelines.stores.factory import timeline_store
from timelines.stores.packed import FAMILY
from timelines.types import Entry, LiveTimeline

FIRST = 3_000_000
_AT_ONCE = 5_000
_TTL_S = 3_600
_DELETE = f"DELETE FROM {BACKWARD_TABLE} WHERE followee_id = %s AND follower_id >= {FIRST}"


def make_crowd(order: dict[str, Any]) -> int:
    """`stars`: each gets all `count` followers, whose timelines are live and empty."""
    _make_live(FIRST)
    [first] = redis().run([("GET", name) for name in keys(FAMILY, [FIRST])])
    for readers in _readers(order["count"]):
        names = keys(FAMILY, readers)
        redis().run([("SET", name, first, "EX", _TTL_S) for name in names])
        for star in order["stars"]:
            execute(shard_of(star), INSERT_FOLLOWERS, (star, readers))
    return int(order["count"])


def count_entries(order: dict[str, Any]) -> dict[str, int]:
    """`lost`: entries that timelines of the crowd lack. `repeated`: those that they have twice, of
    which a page shows one."""
    wanted = {Entry.of_post(PostId.from_number(number)).packed for number in order["posts"]}
    counts: Counter[str] = Counter(lost=0, repeated=0)
    for readers in _readers(order["count"]):
        timelines = timeline_store().peek(readers)
        for reader in readers:
            packed = timelines[reader].packed if reader in timelines else []
            counts["lost"] += len(wanted - {*packed})
            counts["repeated"] += len(packed) - len({*packed})
    return counts


def end_crowd(order: dict[str, Any]) -> None:
    for star in order["stars"]:
        execute(shard_of(star), _DELETE, (star,))
    for readers in _readers(order["count"]):
        redis().run([("DEL", name) for name in keys(FAMILY, readers)])


def _make_live(reader: int) -> None:
    timeline_store().begin_build(reader, 1)
    timeline_store().finish_build(reader, 1, LiveTimeline.of([], 0, 0))


def _readers(count: int) -> Iterator[Sequence[int]]:
    for start in range(FIRST, FIRST + count, _AT_ONCE):
        yield list(range(start, min(start + _AT_ONCE, FIRST + count)))
