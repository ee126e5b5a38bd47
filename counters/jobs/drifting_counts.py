"""Compares counts with their rows, and repairs those that differ."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from counters.actions.move_counts import move_counts
from counters.changes import CountsRepaired
from counters.kinds import CounterKind
from counters.queries.drift import Drift, find_drift, list_owners
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, Row, walk
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import fetch_one

# An owner has hundreds of rows, some have millions, and statements must stay short.
BATCH_SIZE = 100
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('counters.recount ' || %s, 0))"


def walk_owners(work: Work) -> Iterator[Piece]:
    """The ids of owners with a count or a counted row, as rows of one column. One query a piece."""
    return walk(work, partial(_read, work.account_id))


def _read(account_id: int | None, alias: str, after: Sequence[Any] | None, count: int) -> list[Row]:
    if account_id is not None:
        return [] if after else [(account_id,)]
    return [*list_owners(alias, after[0] if after else 0, count)]


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
