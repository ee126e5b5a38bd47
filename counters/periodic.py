"""The audit that never ends: a few owners of each shard at a time, and what was wrong before.

counters.drift:v1:{shard0}   {"at_s": Unix seconds, "wrong": {account: counts that differ}}
"""

import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
import structlog
from django.db import OperationalError, transaction

from counters.queries.drift import find_drift, list_owners
from infra.caching.database_reports import DatabaseReports
from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from infra.sharding.sql import execute, fetch_one

OWNERS = 20
MOST_WRONG = 200
LATEST = "SELECT coalesce(max(owner_id), 0) FROM counters_counter"
# Changes wait meanwhile. Whoever has millions of rows is left to audit_counters.
PATIENCE = "SET LOCAL statement_timeout = '1s'"
KEPT_S = 86_400
log = structlog.get_logger()


class DriftSample(msgspec.Struct):
    """What a shard's samples have found that is wrong still. `wrong`: counts by account."""

    at_s: float
    wrong: dict[int, int]


DRIFT = DatabaseReports("counters.drift:v1", DriftSample, KEPT_S)


def sample_drift(alias: str) -> None:
    """Audits some owners of a shard.

    Cost: two round trips and four short statements, three more while something is wrong.
    """
    sample_shard(alias, random.random())


def sample_shard(alias: str, draw: float) -> DriftSample:
    """Audits the owners behind a place drawn from 0 to 1, and those found wrong before."""
    known = DRIFT.read([alias]).get(alias, DriftSample(0, {})).wrong
    after = int(draw * fetch_one(alias, LATEST)[0])  # type: ignore[index]  # an aggregate
    sample = {owner_id for (owner_id,) in list_owners(alias, after, OWNERS)} - known.keys()
    news = _audit(alias, sample, {})
    if news:
        log.error("counters.drifted", alias=alias, counts=news)
    wrong = {**_audit(alias, known, known), **news}
    found = DriftSample(time.time(), dict(sorted(wrong.items())[:MOST_WRONG]))
    DRIFT.keep(alias, found)
    return found


def _audit(alias: str, owner_ids: Iterable[int], before: Mapping[int, int]) -> Mapping[int, int]:
    """How many counts of each owner differ; what was known `before` where it took too long."""
    wanted = list(owner_ids)
    if not wanted:
        return {}
    try:
        with transaction.atomic(using=alias):
            execute(alias, PATIENCE)
            return Counter(drift.owner_id for drift in find_drift(alias, wanted))
    except OperationalError as error:
        log.warning("counters.not_sampled", alias=alias, error=str(error))
        return before


PERIODIC_TASKS = (
    PeriodicTask(
        "sample_counts",
        10,
        Placement.SHARDED,
        "four short statements, one second at most; two round trips to Redis",
        sample_drift,
    ),
)
