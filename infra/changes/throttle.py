"""The throttle times of folded lanes: many changes to one row become one write a second.

The first change after a quiet time is delivered at once. Then the lane rests for
CHANGE_THROTTLE_MS. The row of the lease carries the end of this time, so that it holds for the next
drainer too.
"""

import time
from collections.abc import Sequence

from infra.changes.lanes import LaneGroup, group_of
from infra.sharding.sql import execute, fetch_all

# The shortest time between two drains of a folded lane that had changes.
CHANGE_THROTTLE_MS = 1_000
OPEN = """
UPDATE changes_drainlease
SET throttled_until = clock_timestamp() + %s * interval '1 ms' WHERE lane = %s
"""
READ = """
SELECT lane, extract(epoch FROM throttled_until - clock_timestamp())::float8
FROM changes_drainlease WHERE lane = ANY(%s) AND throttled_until > clock_timestamp()
"""


class Throttle:
    """The throttle times of the lanes that one drainer holds. Not thread-safe.

    Raises: errors of UNREACHABLE. Cost: one query, if one of the lanes is folded.
    """

    def __init__(self, alias: str, lanes: Sequence[int]) -> None:
        self._alias = alias
        folded = [lane for lane in lanes if is_folded(lane)]
        rows = fetch_all(alias, READ, (folded,)) if folded else []
        now = time.monotonic()
        # A longer time is of a clock of the database that went back since.
        longest_s = CHANGE_THROTTLE_MS / 1000
        self._until = {lane: now + min(left_s, longest_s) for lane, left_s in rows}

    def begin(self, lane: int) -> None:
        """Call it before the delivery: if the drainer is killed, the next one waits. One query."""
        execute(self._alias, OPEN, (CHANGE_THROTTLE_MS, lane))
        self._until[lane] = time.monotonic() + CHANGE_THROTTLE_MS / 1000

    def end(self, lane: int) -> None:
        """The lane had more rows than fit in a batch: only rows that come later are throttled."""
        self._until.pop(lane, None)

    def is_resting(self, lane: int) -> bool:
        """Whether the throttle time of the lane is not over."""
        return self._until.get(lane, 0.0) > time.monotonic()

    def next_end_s(self) -> float:
        """Seconds until the next throttle time ends; infinite without one."""
        now = time.monotonic()
        return min((until - now for until in self._until.values() if until > now), default=1e9)


def is_folded(lane: int) -> bool:
    return group_of(lane) is LaneGroup.FOLDED
