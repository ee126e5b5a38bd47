"""The value of the cache tiers: batches cold and from Redis, and one hot key."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from accounts.cache import profiles
from accounts.queries.load import load_account_json
from infra.caching.client import redis
from lab.bench.store_figures import RedisFigures
from lab.bench.world import TEXT, drain_all, make_accounts
from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.reading.hydrate import hydrate
from posts.types import Draft
from tests.budgets import count_calls

BATCH = 20
ROUNDS = 15
READS_S = 10_000
# How long the key is read until it is hot, and how long after that.
WARMING_S, HOT_S = 3.0, 4.0

Load = Callable[[], None]


class LoadCost(NamedTuple):
    wall_us: float
    cpu_us: float
    redis: int
    sql: int


def measure() -> dict[str, Any]:
    """µs and calls of each batch by tier; Redis operations a second for one hot key."""
    authors = make_accounts(BATCH)
    now = time.time()
    of_many = [_publish(author, now - n) for n, author in enumerate(authors)]
    of_one = [_publish(authors[0], now - 100 - n) for n in range(BATCH)]
    drain_all()
    return {
        "20 posts, 20 authors": _tiers(lambda: _load_posts(of_many)),
        "20 posts, 1 author": _tiers(lambda: _load_posts(of_one)),
        "20 profiles with counts": _tiers(lambda: _load_cards(authors)),
        "one hot key": _read_hot(authors[0]),
    }


def _publish(author_id: int, at: float) -> PostId:
    return create_post(author_id, Draft(TEXT), clock_s=lambda: at)


def _load_posts(ids: Sequence[PostId]) -> None:
    assert set(ids) <= hydrate(ids).fragments.keys()


def _load_cards(ids: Sequence[int]) -> None:
    assert len(load_account_json(ids)) == len(ids)


def _tiers(load: Load) -> dict[str, dict[str, float]]:
    befores = {"cold": _empty_redis, "redis": lambda: None}
    return {tier: _median([_run_once(load, before) for _ in range(ROUNDS)])
            for tier, before in befores.items()}  # fmt: skip


def _run_once(load: Load, before: Load) -> LoadCost:
    before()
    with count_calls() as calls:
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        load()
        cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    return LoadCost(wall_s * 1e6, cpu_s * 1e6, calls.round_trips, len(calls.statements))


def _median(rounds: Sequence[LoadCost]) -> dict[str, float]:
    """The median of each figure. The first round is a warm-up."""
    columns = zip(*rounds[1:], strict=True)
    return {n: round(statistics.median(c)) for n, c in zip(LoadCost._fields, columns, strict=True)}


def _empty_redis() -> None:
    redis().call("FLUSHDB")


def _read_hot(account_id: int) -> dict[str, float]:
    """Reads READS_S times a second, or as fast as possible, and counts Redis operations."""
    _read_for(account_id, WARMING_S)
    before = RedisFigures.read()
    reads, seconds = _read_for(account_id, HOT_S)
    operations = RedisFigures.read().since(before).commands
    return {"reads_per_s": round(reads / seconds), "redis_per_s": round(operations / seconds, 1)}


def _read_for(account_id: int, seconds: float) -> tuple[int, float]:
    began_s, reads, now_s = time.monotonic(), 0, 0.0
    while (now_s := time.monotonic() - began_s) < seconds:
        for _ in range(int(now_s * READS_S) - reads):
            profiles.load_many([account_id])
            reads += 1
        time.sleep(0.001)  # then the loop does the reads that are due
    return reads, now_s
