"""Compares counts with their rows, and changes nothing."""

from collections.abc import Iterator
from functools import partial

from counters.jobs.walk import walk_owners
from counters.queries.drift import find_drift
from infra.jobs.types import Batch, Work
from infra.sharding.replicas import read_replica_or_shard


def audit_counters(work: Work) -> Iterator[Batch]:
    """Owners whose counts differ from their rows have failed. Two statements a batch, no lock.

    The one that reads all the rows is for the shard's replica, if there is one: what it knows is
    a moment of the shard's, with counts and rows as they belonged together then.
    """
    for alias, rows, position in walk_owners(work):
        owner_ids = [owner_id for (owner_id,) in rows]
        found = read_replica_or_shard(alias, partial(find_drift, owner_ids=owner_ids))
        wrong = len({drift.owner_id for drift in found})
        yield Batch(len(rows) - wrong, wrong, alias, None, position, [*map(str, found)])
