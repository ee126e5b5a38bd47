"""Makes counts the numbers of their rows again."""

from collections.abc import Iterator, Sequence

from django.db import transaction

from counters.actions.move import move
from counters.changes import CountsRepaired
from counters.jobs.walk import walk_owners
from counters.queries.drift import Drift, find_drift
from counters.types import CountMove
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.sharding.sql import fetch_one

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('counters.recount ' || %s, 0))"


def recount_counters(work: Work) -> Iterator[Batch]:
    """Counts that differ from their rows, mended; a batch of owners each.

    Cost: two statements a batch, and six for each owner whose counts differ.
    """
    for alias, rows, position in walk_owners(work):
        found = find_drift(alias, [owner_id for (owner_id,) in rows])
        if not work.dry_run:
            owner_ids = dict.fromkeys(drift.owner_id for drift in found)
            found = [drift for owner_id in owner_ids for drift in repair(alias, owner_id)]
        yield Batch(len(rows), 0, alias, len(found), position, [*map(str, found)])


def repair(alias: str, owner_id: int) -> Sequence[Drift]:
    """Moves an owner's counts by what they lack, and returns what that was.

    Safety: exact while others write, and holds none of them up: a write moves a row and its count
    alike, so what a count lacks stays the same until a recount mends it. Recounts of one owner
    take turns, or two would both add it. The caches follow by a change, so that none is left
    behind when this dies; changes of this kind need no order.
    Raises: what UNREACHABLE lists. Cost: five statements in one transaction.
    """
    with transaction.atomic(using=alias):
        fetch_one(alias, LOCK, (owner_id,))
        found = find_drift(alias, [owner_id])
        failpoint("counters.drift_found")
        move(
            alias,
            [CountMove(owner_id, drift.kind, drift.lacking, drift.subject) for drift in found],
        )
        for subject in dict.fromkeys(drift.subject for drift in found):
            append_change(alias, owner_id, CountsRepaired(subject))
        failpoint("counters.repaired")
    return found
