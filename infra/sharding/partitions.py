"""Tables with a partition a day or more: the coming ones made ahead, expired ones dropped whole.

Each has a default partition: rows of a day without one of its own land there, so that nothing ever
fails for whoever makes partitions having slept.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import NamedTuple

from django.db import transaction

from infra.sharding.sql import execute, fetch_all, fetch_one

PARTITIONS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = %s::regclass AND c.relname ~ %s
"""

OLDEST = """
SELECT p.relname, to_date(min(right(c.relname, 8)), 'YYYYMMDD')
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
WHERE p.relkind = 'p' AND c.relname ~ '_[0-9]{8}$' GROUP BY p.relname ORDER BY p.relname
"""


def oldest_days(alias: str) -> dict[str, date]:
    """The first day that each table with partitions of days still has. One query on catalogues."""
    return dict(fetch_all(alias, OLDEST))


class DailyPartitions(NamedTuple):
    """The days of one partitioned table. `first`: the least value of the column on a day.

    `width`: how many days a partition has; it is named after the first.

    Any number of processes may call any of these at once. They raise OperationalError when others
    keep the table busy for two seconds; the next try does it.
    """

    table: str
    column: str
    first: Callable[[date], int | date]
    width: int = 1

    def make(self, alias: str, days: Iterable[date]) -> None:
        """Makes the days' partitions; not that of a day with rows in the default partition."""
        names = self.names(alias)
        lacking = [day for day in days if self.name(day) not in names]
        if not lacking:
            return
        with self._alone(alias):
            # Making a partition takes this lock anyway; taken now, no row arrives after the check.
            execute(alias, f"LOCK TABLE {self.table}_default IN ACCESS EXCLUSIVE MODE")
            for day in lacking:
                if not self._has_strays(alias, day):
                    self._make_day(alias, day)

    def drop_before(self, alias: str, oldest_kept: date) -> list[str]:
        """Drops the partitions, and deletes the strays, of earlier days; returns names dropped."""
        dropped = self._drop(alias, self.name(oldest_kept))
        strays = f"DELETE FROM {self.table}_default WHERE {self.column} < %s"  # noqa: S608
        execute(alias, strays, (self.first(oldest_kept),))
        return dropped

    def names(self, alias: str) -> set[str]:
        """Names of the partitions of single days."""
        pattern = f"^{self.table}_[0-9]{{8}}$"
        return {row[0] for row in fetch_all(alias, PARTITIONS, (self.table, pattern))}

    def name(self, day: date) -> str:
        return f"{self.table}_{day:%Y%m%d}"

    def _make_day(self, alias: str, day: date) -> None:
        lower, upper = self._bounds(day)
        execute(
            alias,
            f"CREATE TABLE IF NOT EXISTS {self.name(day)} PARTITION OF {self.table}"
            f" FOR VALUES FROM ('{lower}') TO ('{upper}')",
        )

    def _drop(self, alias: str, oldest_kept: str) -> list[str]:
        if not any(name < oldest_kept for name in self.names(alias)):
            return []
        with self._alone(alias):
            expired = sorted(name for name in self.names(alias) if name < oldest_kept)
            for name in expired:
                execute(alias, f"DROP TABLE {name}")
        return expired

    def _has_strays(self, alias: str, day: date) -> bool:
        """Whether the default partition holds rows of this day, which then can have no other."""
        stray = (
            f"SELECT 1 FROM {self.table}_default"  # noqa: S608
            f" WHERE {self.column} >= %s AND {self.column} < %s LIMIT 1"
        )
        return fetch_one(alias, stray, self._bounds(day)) is not None

    def _bounds(self, day: date) -> tuple[int | date, int | date]:
        return self.first(day), self.first(day + timedelta(days=self.width))

    @contextmanager
    def _alone(self, alias: str) -> Iterator[None]:
        """One at a time, and none that stops the others for long by waiting for a lock."""
        with transaction.atomic(using=alias):
            execute(alias, "SET LOCAL lock_timeout = '2s'")
            fetch_one(alias, "SELECT pg_advisory_xact_lock(hashtext(%s))", (self.table,))
            yield
