"""Tables with one partition per day or per several days.

Future partitions are created ahead; expired ones are dropped whole. Each table also has a default
partition. It takes rows of days without a partition, so a late job never makes a write fail.
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
    """The first day that each partitioned table still has. One query on catalogues."""
    return dict(fetch_all(alias, OLDEST))


class DailyPartitions(NamedTuple):
    """The partitions of one table. `first`: the least value of the column on a day.

    `width`: days per partition. A partition is named after its first day.

    Safety: any number of processes may call these methods at once. They raise OperationalError if
    other sessions lock the table for two seconds; try again later.
    """

    table: str
    column: str
    first: Callable[[date], int | date]
    width: int = 1

    def make(self, alias: str, days: Iterable[date]) -> None:
        """Creates the partitions of these days, but not of a day with rows in the default one."""
        names = self.names(alias)
        missing = [day for day in days if self.name(day) not in names]
        if not missing:
            return
        with self._exclusively(alias):
            # CREATE takes this lock anyway. Taken before the check, it keeps new rows out.
            execute(alias, f"LOCK TABLE {self.table}_default IN ACCESS EXCLUSIVE MODE")
            for day in missing:
                if not self._has_strays(alias, day):
                    self._make_day(alias, day)

    def drop_before(self, alias: str, oldest_kept: date) -> list[str]:
        """Drops partitions of earlier days and deletes such rows in the default partition.

        Returns the names of the dropped partitions.
        """
        dropped = self._drop(alias, self.name(oldest_kept))
        strays = f"DELETE FROM {self.table}_default WHERE {self.column} < %s"  # noqa: S608
        execute(alias, strays, (self.first(oldest_kept),))
        return dropped

    def names(self, alias: str) -> set[str]:
        """Names of the partitions, without the default one."""
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
        with self._exclusively(alias):
            expired = sorted(name for name in self.names(alias) if name < oldest_kept)
            for name in expired:
                execute(alias, f"DROP TABLE {name}")
        return expired

    def _has_strays(self, alias: str, day: date) -> bool:
        """Whether the default partition has rows of this day. Then the day cannot get its own."""
        stray = (
            f"SELECT 1 FROM {self.table}_default"  # noqa: S608
            f" WHERE {self.column} >= %s AND {self.column} < %s LIMIT 1"
        )
        return fetch_one(alias, stray, self._bounds(day)) is not None

    def _bounds(self, day: date) -> tuple[int | date, int | date]:
        return self.first(day), self.first(day + timedelta(days=self.width))

    @contextmanager
    def _exclusively(self, alias: str) -> Iterator[None]:
        """A transaction in which one process changes partitions. Waits two seconds for locks."""
        with transaction.atomic(using=alias):
            execute(alias, "SET LOCAL lock_timeout = '2s'")
            fetch_one(alias, "SELECT pg_advisory_xact_lock(hashtext(%s))", (self.table,))
            yield
