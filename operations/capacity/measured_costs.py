"""What the product costs on one machine. `docs/explanation/performance.md` has the runs.

Costs of another machine differ by a factor, which is the same for all of them: compare the bare
view's 73 µs with `lab.bench --only first_reads` there.
"""

from typing import NamedTuple


class CpuCost(NamedTuple):
    """µs of CPU, by who spends it."""

    web: float
    worker: float = 0.0
    postgres: float = 0.0
    redis: float = 0.0

    def times(self, count: float) -> "CpuCost":
        return CpuCost(*(count * part for part in self))


# Pages: `--only first_reads` and `--only reads`, 2026-11-27.
FIRST_PAGE = CpuCost(1_333, redis=213)
PAGE_AGAIN = CpuCost(263, redis=59)
PAGE_OF_WHO_WAS_AWAY = CpuCost(7_167, postgres=5_333, redis=932)
# Writes: `--only writes`, at 200 a second, 2026-11-27. A favourite was not measured at that rate.
POST = CpuCost(2_510, 2_580, 2_960, 500)
FOLLOW = CpuCost(2_670, 2_240, 3_210, 700)
FAVOURITE = FOLLOW
# A post into one live timeline.
DELIVERY = CpuCost(0, 2.7, 1.7, 2.0)
# A row of the recent-posts index, in statements of about ten rows.
INDEX_ROW = CpuCost(0, 0, 52)

# Bytes on disk, with their indexes.
EDGE_BYTES, POST_BYTES, CHANGE_BYTES, INDEX_ROW_BYTES = 206, 700, 423, 113
# A user with three tokens, in the default database.
USER_BYTES = 2_500
# Bytes of PostgreSQL's log, later than the first write after a checkpoint.
POST_WAL_BYTES, FOLLOW_WAL_BYTES, FAVOURITE_WAL_BYTES, INDEX_ROW_WAL_BYTES = (
    3_218,
    3_275,
    3_134,
    350,
)
# Bytes in Redis of a reader whose timeline is live: timeline; relations; share of posts and counts.
READER_BYTES = 10_200 + 2_264 + 5_000
# A web process has one core, and a worker too.
PROCESS_GB = 0.25
