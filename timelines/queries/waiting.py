"""What the drain has yet to bring to live timelines."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from infra.changes.registry import Payload, read_payload
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.changes import PostCreated
from posts.ids import PostId
from relations.changes import EdgeChanged
from timelines.changes import ChunkCut, FanOutBegun, ShardMissed

FANNING_OUT = (FanOutBegun, ChunkCut, ShardMissed)
KINDS = [payload.kind for payload in (PostCreated, EdgeChanged, *FANNING_OUT)]
PENDING = """
SELECT owner_id, kind, payload FROM changes_change
WHERE owner_id = ANY(%s::bigint[]) AND kind = ANY(%s) AND state = 0
"""


class Waiting(NamedTuple):
    """`events`: not pushed to everybody yet. `readers`: whose following is not applied yet."""

    events: set[PostId]
    readers: set[int]


def find_waiting(account_ids: Iterable[int]) -> Waiting:
    """Of these accounts; parked changes are not waiting for anything. One query per shard, at once.

    The change that says a post is there and the pieces of its fan-out follow each other in one
    transaction: what is not among `events` and was posted before is delivered.
    """
    calls = {
        alias: partial(fetch_all, alias, PENDING, (owners, KINDS))
        for alias, owners in group_by_shard(account_ids).items()
    }
    waiting = Waiting(set(), set())
    for rows in scatter(calls).values():
        for owner_id, kind, text in rows:
            payload = read_payload(kind, text)
            waiting.events.update(_events_of(owner_id, payload))
            if isinstance(payload, EdgeChanged):
                waiting.readers.add(owner_id)
    return waiting


def _events_of(owner_id: int, payload: Payload) -> Iterator[PostId]:
    if isinstance(payload, PostCreated):
        yield PostId.at(owner_id, payload.moment)
    elif isinstance(payload, FANNING_OUT):
        yield from (entry.event for entry in payload.entries)
