"""Daily partitions of delivered changes: made ahead, dropped after the replay window."""

from datetime import date, timedelta

from django.conf import settings

from infra.sharding.sql import execute, fetch_all

DAYS_AHEAD = 3
PARTITIONS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'changes_delivered'::regclass AND c.relname ~ '^changes_delivered_[0-9]{8}$'
"""


def keep_partitions(alias: str, today: date) -> list[str]:
    """Makes the coming days' partitions and drops expired ones; returns the names dropped.

    Rows of a day without a partition land in the default partition, so nothing ever fails for
    this job having slept; that day's own partition is then made once they are gone.
    """
    existing = {row[0] for row in fetch_all(alias, PARTITIONS)}
    for ahead in range(DAYS_AHEAD):
        day = today + timedelta(days=ahead)
        if _name(day) not in existing:
            _create(alias, day)
    oldest = _name(today - timedelta(days=settings.CHANGE_REPLAY_DAYS))
    expired = sorted(name for name in existing if name < oldest)
    for name in expired:
        execute(alias, f"DROP TABLE {name}")
    _prune_default(alias, today)
    return expired


def _create(alias: str, day: date) -> None:
    stray = "SELECT 1 FROM changes_delivered_default WHERE delivered_on = %s LIMIT 1"
    if not fetch_all(alias, stray, (day,)):
        execute(
            alias,
            f"CREATE TABLE IF NOT EXISTS {_name(day)} PARTITION OF changes_delivered"
            f" FOR VALUES FROM ('{day}') TO ('{day + timedelta(days=1)}')",
        )


def _prune_default(alias: str, today: date) -> None:
    oldest = today - timedelta(days=settings.CHANGE_REPLAY_DAYS)
    execute(alias, "DELETE FROM changes_delivered_default WHERE delivered_on < %s", (oldest,))


def _name(day: date) -> str:
    return f"changes_delivered_{day:%Y%m%d}"
