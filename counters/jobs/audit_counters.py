"""Compares counts with their rows without changing them."""

from collections.abc import Iterator
from functools import partial

from counters.jobs.walk_owners import walk_owners
from counters.queries.drift import find_drift
from infra.jobs.types import Batch, Work
from infra.sharding.replicas import read_replica_or_shard


def audit_counters(work: Work) -> Iterator[Batch]:
    """Reports owners whose counts differ from their rows as failed. Two queries a batch, no lock.

    The query that reads all rows goes to the replica of the shard, if there is one. The replica is
    an earlier snapshot of the shard, so its counts and rows belong together.
    """
    for alias, rows, position in walk_owners(work):
        owner_ids = [owner_id for (owner_id,) in rows]
        drifts = read_replica_or_shard(alias, partial(find_drift, owner_ids=owner_ids))
        wrong = len({drift.owner_id for drift in drifts})
        yield Batch(len(rows) - wrong, wrong, alias, None, position, [*map(str, drifts)])
