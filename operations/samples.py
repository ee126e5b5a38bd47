"""Samples of the last hour for the charts. Compensators write them, the charts page reads them.

    operations.samples:v1:{shard0}   a stream with an entry per SLOT_S; its id is the slot: s → JSON
    operations.samples:v1:{fleet}    the same for Redis and the caches

The id stops a second compensator from writing a slot twice. A stream has SLOT_COUNT slots at most.
"""

import time
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec
from prometheus_client import Metric
from redis.exceptions import ResponseError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.scanning import list_nodes
from infra.changes.lag import LAG
from infra.changes.sql import DELIVERED_TABLE
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one
from infra.telemetry.publishing import PUBLISHER, metrics_folder
from operations.queries.slow_queries import IS_SLOW
from operations.request_totals import RequestTotals, read_totals

FAMILY = "operations.samples:v1"
FLEET = "fleet"
SLOT_S = 10
SLOT_COUNT = 360
EXPIRES_AFTER_S = 7_200
SLOT_TAKEN = "equal or smaller"
READS = "tideline_cache_reads"
# PostgreSQL's count of inserts of delivered changes. It drops when a day's partition is dropped.
ACTIVITY = f"""
SELECT (
    SELECT coalesce(sum(n_tup_ins), 0)::bigint FROM pg_stat_user_tables WHERE relid IN (
        SELECT inhrelid FROM pg_inherits WHERE inhparent = '{DELIVERED_TABLE}'::regclass
    )
), (SELECT count(*) FROM pg_stat_activity WHERE {IS_SLOW})
"""  # noqa: S608 - of a constant
S = TypeVar("S", bound=msgspec.Struct)


class DatabaseSample(msgspec.Struct, array_like=True):
    """`oldest_s`: the age of the oldest pending change by lane. None if not reported, as `parked`.

    `delivered`: deliveries since an arbitrary start; only differences mean something.
    `slow`: the number of long-running queries. `at_s`: Unix seconds inside the slot.
    """

    oldest_s: dict[int, float] | None
    parked: int | None
    delivered: int
    slow: int
    at_s: float


class FleetSample(msgspec.Struct, array_like=True):
    """All Redis nodes together. `most_bytes` 0: no limit. `reads`: hits and misses by tier.

    `requests`: None in samples of an older version.
    """

    memory_bytes: int
    most_bytes: int
    reads: dict[str, tuple[int, int]]
    requests: RequestTotals | None = None


def sample_database(alias: str) -> None:
    """One query, two round trips to Redis. Raises: RedisError, the errors in UNREACHABLE."""
    report = LAG.read([alias]).get(alias)
    row = fetch_one(alias, ACTIVITY)
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    lags = None if report is None else {lag.lane: round(lag.oldest_s, 1) for lag in report.lags}
    parked = None if report is None else sum(lag.parked for lag in report.lags)
    now_s, (delivered, slow) = time.time(), row
    _write(alias, DatabaseSample(lags, parked, delivered, slow, round(now_s, 1)), now_s)


def sample_fleet(_alias: str) -> None:
    """Redis, and the cache reads and requests of this machine's processes.

    Raises: RedisError. Cost: one round trip a node, and two more.
    """
    redis().call("PING")  # fails fast if Redis hangs; list_nodes waits longer
    infos = [_memory_of(node.client) for node in list_nodes()]
    used, most = (sum(info[name] for info in infos) for name in ("used_memory", "maxmemory"))
    metrics, now_s = PUBLISHER.collect(metrics_folder()), time.time()
    requests = read_totals(metrics, round(now_s, 1))
    _write(FLEET, FleetSample(used, most, _count_reads(metrics), requests), now_s)


def read_databases(since_s: float) -> dict[str, dict[int, DatabaseSample]]:
    """Samples by database and slot. One round trip. Raises: RedisError."""
    return _read(all_aliases(), since_s, DatabaseSample)


def read_fleet(since_s: float) -> dict[int, FleetSample]:
    """Samples by slot. One round trip. Raises: RedisError."""
    return _read([FLEET], since_s, FleetSample)[FLEET]


def slot_of(unix_s: float) -> int:
    return int(unix_s // SLOT_S)


def _write(name: str, sample: msgspec.Struct, now_s: float) -> None:
    """Writes the sample, unless another compensator has written this slot."""
    where, raw = key(FAMILY, name), msgspec.json.encode(sample)
    add = ("XADD", where, "MAXLEN", SLOT_COUNT, f"{slot_of(now_s)}-0", "s", raw)
    try:
        redis().run([add, ("EXPIRE", where, EXPIRES_AFTER_S)])
    except ResponseError as error:
        if SLOT_TAKEN not in str(error):
            raise


def _read(names: Iterable[str], since_s: float, kind: type[S]) -> dict[str, dict[int, S]]:
    wanted = list(names)
    since = f"{slot_of(since_s)}-0"
    replies = redis().run([("XRANGE", key(FAMILY, name), since, "+") for name in wanted])
    return {name: _decode(reply, kind) for name, reply in zip(wanted, replies, strict=True)}


def _decode(reply: Iterable[tuple[bytes, list[bytes]]], kind: type[S]) -> dict[int, S]:
    decoder = msgspec.json.Decoder(kind)
    samples = {
        int(id_.partition(b"-")[0]): decode(FAMILY, decoder.decode, fields[1])
        for id_, fields in reply
    }
    return {slot: sample for slot, sample in samples.items() if sample is not None}


def _memory_of(client: object) -> Mapping[str, int]:
    info: Mapping[str, int] = client.info("memory")  # type: ignore[attr-defined]
    return info


def _count_reads(metrics: Iterable[Metric]) -> dict[str, tuple[int, int]]:
    """Hits and misses by tier, over all families and processes."""
    counts: dict[str, tuple[int, int]] = {}
    for metric in metrics:
        for sample in metric.samples if metric.name == READS else ():
            hits, misses = counts.get(sample.labels["tier"], (0, 0))
            is_hit = sample.labels["outcome"] == "hit"
            more = int(sample.value)
            counts[sample.labels["tier"]] = (hits + more * is_hit, misses + more * (not is_hit))
    return counts
