"""Repairs counts that differ from their rows."""

from collections.abc import Iterator, Sequence

from django.db import transaction

from counters.actions.move_counts import move_counts
from counters.changes import CountsRepaired
from counters.jobs.walk_owners import walk_owners
from counters.kinds import CounterKind
from counters.queries.drift import Drift, find_drift
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.sharding.sql import fetch_one

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('counters.recount ' || %s, 0))"


def recount_counters(work: Work) -> Iterator[Batch]:
    """Repairs counts that differ from their rows; a batch of owners at a time.

    Cost: two statements a batch, and `repair` for each owner whose counts differ.
    """
    for alias, rows, position in walk_owners(work):
        drifts = find_drift(alias, [owner_id for (owner_id,) in rows])
        if not work.dry_run:
            owner_ids = dict.fromkeys(drift.owner_id for drift in drifts)
            drifts = [drift for owner_id in owner_ids for drift in repair(alias, owner_id)]
        yield Batch(len(rows), 0, alias, len(drifts), position, [*map(str, drifts)])


def repair(alias: str, owner_id: int) -> Sequence[Drift]:
    """Adds the missing difference to each count of an owner; returns the differences.

    Safety: exact while others write, and no write waits long. A write moves a row and its count
    together, so the difference stays the same until a recount repairs it. But a post that is
    written in the meantime sets NEWEST_POST_DAY right itself, so that is compared once more.
    Recounts of one owner take a lock, or two would both add the difference. A change refreshes the
    caches, also after a crash; such changes need no order.
    Raises: errors of UNREACHABLE. Cost: a transaction of five statements, and another one for each
    further wrong count of the account itself.
    """
    repaired: list[Drift] = []
    is_done = False
    while not is_done:
        chosen, is_done = _repair_some(alias, owner_id)
        repaired += chosen
    return repaired


def _repair_some(alias: str, owner_id: int) -> tuple[Sequence[Drift], bool]:
    """Repairs one count of the account and all of its posts; returns them, and whether it was all.

    A write of the account may move several of its counts in any order, because it holds the lock of
    the account's row. This transaction does not hold it. So it locks one of these counts only, and
    a deadlock with a write is impossible.
    """
    with transaction.atomic(using=alias):
        fetch_one(alias, LOCK, (owner_id,))
        drifts = find_drift(alias, [owner_id])
        failpoint("counters.drift_found")
        chosen = _choose(drifts)
        moves = [CountMove(owner_id, drift.kind, drift.lacking, drift.subject) for drift in chosen]
        move_counts(alias, moves)
        for subject in dict.fromkeys(drift.subject for drift in chosen):
            append_change(alias, owner_id, CountsRepaired(subject))
        failpoint("counters.repaired")
    is_all = len(chosen) == len(drifts)
    return chosen, is_all and all(drift.kind != CounterKind.NEWEST_POST_DAY for drift in chosen)


def _choose(drifts: Sequence[Drift]) -> list[Drift]:
    """The first count of the account itself, and all of its posts, in the order of `find_drift`."""
    own = sum(drift.subject == ACCOUNT for drift in drifts)
    return [*drifts[: min(own, 1)], *drifts[own:]]
