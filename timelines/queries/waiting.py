"""What live timelines need not have: the drain has yet to bring it, or pages merge it in."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from infra.changes.registry import Payload, read_payload
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.changes import PostCreated
from posts.ids import PostId
from relations.changes import EdgeChanged
from timelines.changes import ChunkCut, FanOutBegun, ShardMissed
from timelines.hot.queries.hot_authors import list_hot_authors

FANNING_OUT = (FanOutBegun, ChunkCut, ShardMissed)
KINDS = [payload.kind for payload in (PostCreated, EdgeChanged, *FANNING_OUT)]
PENDING = """
SELECT owner_id, kind, payload FROM changes_change
WHERE owner_id = ANY(%s::bigint[]) AND kind = ANY(%s) AND state = 0
"""


class PendingPushes(NamedTuple):
    """`events`: not pushed to everybody yet. `readers`: whose following is not applied yet.
    `hot_authors`: not pushed at all."""

    events: set[PostId]
    readers: set[int]
    hot_authors: set[int]


def load_pending_pushes(account_ids: Iterable[int]) -> PendingPushes:
    """Of these accounts' shards; parked changes are not waiting for anything. Two queries a shard.

    The change that says a post is there and the pieces of its fan-out follow each other in one
    transaction: what is not among `events` and was posted before is delivered. Who was hot then and
    is not among `hot_authors` has cooled, and timelines that lack something were dropped before.
    """
    calls = {
        alias: partial(_read_shard, alias, owners)
        for alias, owners in group_by_shard(account_ids).items()
    }
    waiting = PendingPushes(set(), set(), set())
    for rows, hot in scatter(calls).values():
        waiting.hot_authors.update(hot)
        for owner_id, kind, text in rows:
            payload = read_payload(kind, text)
            waiting.events.update(_events_of(owner_id, payload))
            if isinstance(payload, EdgeChanged):
                waiting.readers.add(owner_id)
    return waiting


def _read_shard(alias: str, owners: list[int]) -> tuple[Sequence[tuple[Any, ...]], list[int]]:
    """In this order."""
    return fetch_all(alias, PENDING, (owners, KINDS)), list_hot_authors(alias)


def _events_of(owner_id: int, payload: Payload) -> Iterator[PostId]:
    if isinstance(payload, PostCreated):
        yield PostId.at(owner_id, payload.moment)
    elif isinstance(payload, FANNING_OUT):
        yield from (entry.event for entry in payload.entries)
