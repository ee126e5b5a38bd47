"""Daily partitions of delivered changes: made ahead, dropped after the replay window."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta

from django.conf import settings
from django.db import transaction

from infra.sharding.sql import execute, fetch_all, fetch_one

DAYS_AHEAD = 3
PARTITIONS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'changes_delivered'::regclass AND c.relname ~ '^changes_delivered_[0-9]{8}$'
"""


def keep_partitions(alias: str, today: date) -> list[str]:
    """Makes the coming days' partitions and drops expired ones; returns the names dropped.

    Rows of a day without a partition land in the default partition, so nothing ever fails for
    this job having slept; they are deleted there when they expire. Safety: any number may run at
    once. Raises: OperationalError when the drain keeps the table busy; the next run does it.
    """
    _make_coming(alias, today)
    dropped = _drop_expired(alias, _name(_oldest_kept(today)))
    expired = "DELETE FROM changes_delivered_default WHERE delivered_on < %s"
    execute(alias, expired, (_oldest_kept(today),))
    return dropped


@contextmanager
def _alone(alias: str) -> Iterator[None]:
    """One such job at a time, and none that stops the drain for long by waiting for a lock."""
    with transaction.atomic(using=alias):
        execute(alias, "SET LOCAL lock_timeout = '2s'")
        fetch_one(alias, "SELECT pg_advisory_xact_lock(hashtext('changes.retention'))")
        yield


def _make_coming(alias: str, today: date) -> None:
    days = [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD)]
    if _list_partitions(alias).issuperset(map(_name, days)):
        return
    with _alone(alias):
        # Making a partition takes this lock anyway; taken now, no row arrives after the check.
        execute(alias, "LOCK TABLE changes_delivered_default IN ACCESS EXCLUSIVE MODE")
        for day in days:
            if not _has_strays(alias, day):
                execute(
                    alias,
                    f"CREATE TABLE IF NOT EXISTS {_name(day)} PARTITION OF changes_delivered"
                    f" FOR VALUES FROM ('{day}') TO ('{day + timedelta(days=1)}')",
                )


def _drop_expired(alias: str, oldest_kept: str) -> list[str]:
    if not any(name < oldest_kept for name in _list_partitions(alias)):
        return []
    with _alone(alias):
        expired = sorted(name for name in _list_partitions(alias) if name < oldest_kept)
        for name in expired:
            execute(alias, f"DROP TABLE {name}")
    return expired


def _list_partitions(alias: str) -> set[str]:
    return {row[0] for row in fetch_all(alias, PARTITIONS)}


def _has_strays(alias: str, day: date) -> bool:
    """Whether the default partition holds rows of this day, which then can have no other."""
    stray = "SELECT 1 FROM changes_delivered_default WHERE delivered_on = %s LIMIT 1"
    return fetch_one(alias, stray, (day,)) is not None


def _oldest_kept(today: date) -> date:
    return today - timedelta(days=settings.CHANGE_REPLAY_DAYS)


def _name(day: date) -> str:
    return f"changes_delivered_{day:%Y%m%d}"
