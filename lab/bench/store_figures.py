"""What Redis and PostgreSQL have done since they started, by their own figures."""

from typing import NamedTuple, Self

from infra.caching.client import redis
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one

TRANSACTIONS = """
SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()
"""


class RedisFigures(NamedTuple):
    """`cpu_s` is finer than `CpuReading`, which counts in ticks of /proc."""

    cpu_s: float
    commands: int

    @classmethod
    def read(cls) -> Self:
        """Counts as two commands."""
        cpu, stats = redis().run([("INFO", "cpu"), ("INFO", "stats")])
        lines = (cpu + stats).decode().splitlines()
        info = dict(line.split(":", 1) for line in lines if ":" in line)
        cpu_s = float(info["used_cpu_user"]) + float(info["used_cpu_sys"])
        return cls(cpu_s, int(info["total_commands_processed"]))

    def since(self, earlier: "RedisFigures") -> "RedisFigures":
        return RedisFigures(self.cpu_s - earlier.cpu_s, self.commands - earlier.commands - 2)


def count_transactions() -> int:
    """Of all databases. Sessions report theirs at most once a second."""
    rows = [fetch_one(alias, TRANSACTIONS) for alias in all_aliases()]
    return sum(int(row[0]) for row in rows if row)
