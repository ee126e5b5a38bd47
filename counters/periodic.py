"""The periodic task of counters: compares the counts of a few accounts with their rows.

counters.drift:v1:{shard0}   a SampleReport; `wrong`: counts that differ, by account
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import structlog
from django.db import OperationalError, transaction

from counters.queries.drift import find_drift, list_owners
from infra.caching.database_reports import DatabaseReports
from infra.jobs.periodic import PeriodicTask
from infra.jobs.sampling import Sample, SampleReport, SamplingAudit
from infra.sharding.buckets import is_owned
from infra.sharding.placement import Placement
from infra.sharding.sql import execute, fetch_one

OWNERS = 20
MAX_WRONG = 200
LATEST = "SELECT coalesce(max(owner_id), 0) FROM counters_counter"
# Changes wait for this statement. Accounts with millions of rows are left to audit counters.
SET_TIMEOUT = "SET LOCAL statement_timeout = '1s'"
TTL_S = 86_400
log = structlog.get_logger()


def _sample(alias: str, draw: float, known: Mapping[int, int]) -> Sample:
    after = int(draw * fetch_one(alias, LATEST)[0])  # type: ignore[index]  # an aggregate
    listed = list_owners(alias, after, OWNERS)
    owners = {owner_id for (owner_id,) in listed if is_owned(alias, owner_id)}
    return Sample(_count_drift(alias, owners - known.keys(), {}))


def _recheck(alias: str, known: Mapping[int, int]) -> Mapping[int, int]:
    return _count_drift(alias, known, known)


def _count_drift(
    alias: str, owner_ids: Iterable[int], known: Mapping[int, int]
) -> Mapping[int, int]:
    """How many counts of each owner differ; `known` where the statement took too long."""
    wanted = list(owner_ids)
    if not wanted:
        return {}
    try:
        with transaction.atomic(using=alias):
            execute(alias, SET_TIMEOUT)
            return Counter(drift.owner_id for drift in find_drift(alias, wanted))
    except OperationalError as error:
        log.warning("counters.not_sampled", alias=alias, error=str(error))
        return known


DRIFT = DatabaseReports("counters.drift:v1", SampleReport, TTL_S)
DRIFT_AUDIT = SamplingAudit("counters.drifted", DRIFT, MAX_WRONG, _sample, _recheck)

PERIODIC_TASKS = (
    PeriodicTask(
        "sample_counts",
        10,
        Placement.SHARDED,
        "four short statements, one second at most; two round trips to Redis",
        "Compares the counts of 20 accounts with their rows, and those found wrong before.",
        DRIFT_AUDIT.run,
    ),
)
