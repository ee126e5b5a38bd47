"""Samples of the last hour for the charts. Compensators write them, the charts page reads them.

    operations.samples:v1:{shard0}   a stream with an entry per SLOT_S; its id is the slot: s → JSON
    operations.samples:v1:{fleet}    the same for Redis and the caches

The id stops a second compensator from writing a slot twice. A stream has SLOT_COUNT slots at most.

What the web processes of one machine answered people so far, read from their metrics.

Queries that run long on a database now.
"""

import socket
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

import msgspec
from prometheus_client import Metric
from prometheus_client.samples import Sample
from redis.exceptions import ResponseError

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.scanning import list_nodes
from infra.changes.lag import LAG
from infra.changes.sql import DELIVERED_TABLE
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all, fetch_one
from infra.telemetry.publishing import PUBLISHER, metrics_folder

RESPONSES = "tideline_responses"
LATENCY = "tideline_request_seconds"
FAILED = "5"  # how the statuses of failures begin
# What machines ask all the time. A server that starts answers 503 there, which is no failure.
OF_MACHINES = ("health/", "metrics")


class RequestTotals(msgspec.Struct, array_like=True):
    """Answers since an arbitrary start: only differences between two of one `machine` mean
    something.

    `failures`: answers with a status of 5xx. `by_time`: how many took at most so many seconds; the
    keys are the bounds as Prometheus writes them, up to `+Inf`. `at_s`: Unix seconds.
    """

    machine: str
    at_s: float
    answers: int
    failures: int
    by_time: dict[str, int]


def read_totals(metrics: Iterable[Metric], at_s: float) -> RequestTotals:
    """The totals in these metrics; all are 0 before the first request. No store."""
    totals = RequestTotals(socket.gethostname(), at_s, 0, 0, {})
    for metric in metrics:
        if metric.name == RESPONSES:
            _add_answers(totals, metric)
        elif metric.name == LATENCY:
            _add_times(totals, metric)
    return totals


def _add_answers(totals: RequestTotals, metric: Metric) -> None:
    for sample in _of_people(metric):
        totals.answers += int(sample.value)
        totals.failures += int(sample.value) * sample.labels["status"].startswith(FAILED)


def _add_times(totals: RequestTotals, metric: Metric) -> None:
    """Over all routes. A bucket of Prometheus also counts what the buckets below it count."""
    for sample in _of_people(metric):
        if bound := sample.labels.get("le"):
            totals.by_time[bound] = totals.by_time.get(bound, 0) + int(sample.value)


def _of_people(metric: Metric) -> Iterable[Sample]:
    return (
        sample
        for sample in metric.samples
        if not sample.labels.get("route", "").startswith(OF_MACHINES)
    )


SLOW_S = 1
MOST = 20
LONGEST_TEXT = 300
# Idle transactions count as well: they hold locks.
IS_SLOW = f"""
datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND state <> 'idle' AND clock_timestamp() - coalesce(state_change, query_start)
        > interval '{SLOW_S} s'
"""
LIST = f"""
SELECT pid, extract(epoch FROM clock_timestamp() - coalesce(state_change, query_start))::float8,
    state, coalesce(wait_event_type, ''), left(query, {LONGEST_TEXT})
FROM pg_stat_activity WHERE {IS_SLOW} ORDER BY 2 DESC LIMIT {MOST}
"""  # noqa: S608 - of constants


class SlowQuery(NamedTuple):
    """`age_s`: how long the query has run, or its transaction has been idle.

    `waits_for` may be empty. `text` may contain values of rows.
    """

    pid: int
    age_s: float
    state: str
    waits_for: str
    text: str


def list_slow(alias: str) -> list[SlowQuery]:
    """At most MOST queries, the longest first. One query."""
    return [SlowQuery(*row) for row in fetch_all(alias, LIST)]


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


Samples = tuple[dict[str, dict[int, DatabaseSample]], dict[int, FleetSample]]


def read_samples(since_s: float) -> Samples:
    """Of the databases by name and slot, and of the fleet by slot. One round trip.

    Raises: RedisError.
    """
    aliases, since = all_aliases(), f"{slot_of(since_s)}-0"
    names = [*aliases, FLEET]
    *replies, of_fleet = redis().run([("XRANGE", key(FAMILY, name), since, "+") for name in names])
    pairs = zip(aliases, replies, strict=True)
    databases = {alias: _decode(reply, DatabaseSample) for alias, reply in pairs}
    return databases, _decode(of_fleet, FleetSample)


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
