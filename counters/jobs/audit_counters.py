"""Compares counts with their rows, and changes nothing."""

from collections.abc import Iterator

from counters.jobs.walk import walk_owners
from counters.queries.drift import find_drift
from infra.jobs.types import Batch, Work


def audit_counters(work: Work) -> Iterator[Batch]:
    """Owners whose counts differ from their rows have failed. Two statements a batch, no lock."""
    for alias, rows, position in walk_owners(work):
        found = find_drift(alias, [owner_id for (owner_id,) in rows])
        wrong = len({drift.owner_id for drift in found})
        yield Batch(len(rows) - wrong, wrong, alias, None, position, [*map(str, found)])
