"""Waits until what an import wrote is delivered: by the worker, or by this process."""

from collections.abc import Callable, Iterator

from infra.changes.compensate import compensate
from infra.changes.lanes import LaneGroup, all_lanes
from infra.changes.sql import SELECT_PENDING
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_one

PENDING = f"SELECT count(*) FROM ({SELECT_PENDING} AND lane = ANY(%s::smallint[])) AS pending"  # noqa: S608
# So many changes of imports may wait on a shard before a run waits for them.
MOST_PENDING = 32
WAIT_S = 0.1
Pause = Callable[[float], bool]


def deliver_imports(most_pending: int, pause: Pause) -> Iterator[int]:
    """Drains the lanes of imports, or waits for the worker that does, until no shard has more than
    `most_pending` changes in them. Yields how many are left, before each wait.

    `pause(seconds)` False: a stop is requested, and it returns. What fails is tried again, and
    parked in the end; parked changes are not waited for. Cost: one query a shard and turn.
    """
    while (left := max(map(_count_pending, shard_aliases()))) > most_pending:
        yield left
        drained = sum(map(_drain, shard_aliases()))
        if not drained and not pause(WAIT_S):
            return


def _count_pending(alias: str) -> int:
    row = fetch_one(alias, PENDING, (all_lanes([LaneGroup.IMPORTED]),))
    return 0 if row is None else int(row[0])


def _drain(alias: str) -> int:
    """How many changes were delivered. None while a worker holds the lease of the lane."""
    lanes = all_lanes([LaneGroup.IMPORTED])
    return sum(report.delivered for lane in lanes for report in compensate(alias, lane))
