"""Compares cache designs for the relationships between a viewer and 100 other accounts (seed S2).

A viewer opens pages of comments. Commenters are drawn by Zipf from a large population, so most are
unrelated to the viewer and some appear again; the viewer follows a few. Each design answers the
same requests with the same SQL, from an empty Redis, and nothing expires.
"""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from infra.caching.bloom import capacity_for, make_filter, may_hold
from infra.caching.client import redis
from lab.bench.draws import Zipf
from lab.bench.world import FollowGraph
from relations.queries import relationships
from relations.queries.relationships import load_relationships
from tests.budgets import count_calls

VIEWERS = 100
BATCHES = 20
TARGETS = 100
RELATED = 5  # of the targets, some of them the same
POPULATION = 200_000
SHAPE = 0.8
SEED = 2
FIRST_UNRELATED = 10**9
Ask = Callable[[int, Sequence[int]], int]


class LookupBatch(NamedTuple):
    viewer_id: int
    others: list[int]


def compare_lookups(world: FollowGraph) -> dict[str, dict[str, float]]:
    """By design: Redis bytes a viewer, share of answers without SQL, calls and µs a batch."""
    batches = draw_batches(world)
    return {name: _measure(ask, batches) for name, ask in DESIGNS.items()}


def draw_batches(world: FollowGraph) -> list[LookupBatch]:
    """BATCHES for each viewer in a random order, the same for all designs."""
    dice = random.Random(SEED)
    viewers = _active(world, dice)
    unrelated = Zipf(range(FIRST_UNRELATED, FIRST_UNRELATED + POPULATION), SHAPE, dice)
    turns = viewers * BATCHES
    dice.shuffle(turns)
    friends = {viewer: Zipf(world.following[viewer], SHAPE, dice) for viewer in viewers}
    batches = []
    for viewer in turns:
        others = {friends[viewer].draw() for _ in range(RELATED)}
        while len(others) < TARGETS:
            others.add(unrelated.draw())
        batches.append(LookupBatch(viewer, sorted(others, key=lambda _: dice.random())))
    return batches


def _active(world: FollowGraph, dice: random.Random) -> list[int]:
    """Accounts, drawn in proportion to their followees: they read more comments."""
    weight = {
        viewer: len(followees) * dice.random() for viewer, followees in world.following.items()
    }
    return sorted(weight, key=lambda viewer: -weight[viewer])[:VIEWERS]


def _measure(ask: Ask, batches: Sequence[LookupBatch]) -> dict[str, float]:
    redis().call("FLUSHDB")
    load_relationships(batches[0].viewer_id, batches[0].others)  # scripts and plans are known
    redis().call("FLUSHDB")
    hits, times = 0, []
    with count_calls() as calls:
        for viewer_id, others in batches:
            started = time.perf_counter()
            missed = ask(viewer_id, others)
            times.append(time.perf_counter() - started)
            hits += len(others) - missed
    times.sort()
    viewers = len({batch.viewer_id for batch in batches})
    count = len(batches)
    return {
        "bytes_per_account": round(_used_bytes() / viewers),
        "keys_per_account": round(redis().call("DBSIZE") / viewers, 1),
        "hit_ratio": round(hits / (count * TARGETS), 4),
        "redis_calls": round(calls.round_trips / count, 2),
        "sql": round(len(calls.statements) / count, 2),
        "us_p50": round(times[count // 2] * 1e6),
        "us_p99": round(times[int(count * 0.99)] * 1e6),
    }


def _used_bytes() -> int:
    """Bytes of all keys, with their entries in the table of keys."""
    cursor, size = b"0", 0
    while True:
        cursor, keys = redis().call("SCAN", cursor, "COUNT", 5_000)
        size += sum(redis().run([("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys]))
        if cursor == b"0":
            return size


def _ask_hash(viewer_id: int, others: Sequence[int]) -> int:
    """All relations of a viewer in one hash, complete or absent. Field `!` marks a complete one."""
    key = b"hash:{%d}" % viewer_id
    if redis().call("HMGET", key, "!", *others)[0] is not None:
        return 0
    related = relationships._read(viewer_id, _related(viewer_id))
    flat = [
        part for other, relationship in related.items() for part in (other, relationship.packed)
    ]
    redis().call("HSET", key, "!", 1, *flat)
    return len(others)


def _ask_kv(viewer_id: int, others: Sequence[int]) -> int:
    """A key for each pair; an unrelated pair gets one too, or SQL would be asked each time."""
    replies = redis().call("MGET", *[_pair(viewer_id, other) for other in others])
    missing = [other for other, value in zip(others, replies, strict=True) if value is None]
    _write_pairs(viewer_id, missing)
    return len(missing)


def _ask_bloom_kv(viewer_id: int, others: Sequence[int]) -> int:
    """Seed S2: a Bloom filter first, then a key for each pair that may be related."""
    key = b"bloom:{%d}" % viewer_id
    data = redis().call("GET", key)
    has_filter = data is not None
    if data is None:
        members = _related(viewer_id)
        data = make_filter(members, capacity_for(len(members)))
        redis().call("SET", key, data)
    maybe = [other for other in others if may_hold(data, other)]
    missed = _ask_kv(viewer_id, maybe) if maybe else 0
    return missed if has_filter else len(others)


def _ask_ours(viewer_id: int, others: Sequence[int]) -> int:
    return _unanswered(lambda: load_relationships(viewer_id, others), len(others))


def _unanswered(load: Callable[[], Any], asked: int) -> int:
    """The number of accounts that SQL was asked about; all if the filter was built."""
    counted: list[int] = []
    read, related = relationships._read, relationships._read_related

    def counting(viewer_id: int, others: Sequence[int]) -> Any:
        counted.append(len(others))
        return read(viewer_id, others)

    def counting_related(viewer_id: int) -> Any:
        counted.append(asked)
        return related(viewer_id)

    relationships._read, relationships._read_related = counting, counting_related
    try:
        load()
    finally:
        relationships._read, relationships._read_related = read, related
    return min(sum(counted), asked)


def _write_pairs(viewer_id: int, others: Iterable[int]) -> None:
    loaded = relationships._read(viewer_id, list(others)) if others else {}
    if loaded:
        flat: list[Any] = []
        for other, relationship in loaded.items():
            flat += (_pair(viewer_id, other), relationship.packed)
        redis().call("MSET", *flat)


def _related(viewer_id: int) -> set[int]:
    return set(relationships._read_related(viewer_id))


def _pair(viewer_id: int, other: int) -> bytes:
    return b"kv:{%d}:%d" % (viewer_id, other)


DESIGNS: Mapping[str, Ask] = {
    "hash": _ask_hash,
    "kv": _ask_kv,
    "bloom_kv": _ask_bloom_kv,
    "ours": _ask_ours,
}
