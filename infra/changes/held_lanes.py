"""The lanes of one database that a thread of the drainer holds: drains them, and waits for more.

The throttle times of folded lanes: many changes to one row become one write a second.

The first change after a quiet time is delivered at once. Then the lane rests for
CHANGE_THROTTLE_MS. The row of the lease carries the end of this time, so that it holds for the next
drainer too.

What the threads of a drainer know about stores that are away, and about their return.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import structlog
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.changes.batches import DrainReport, drain_batch, list_due_lanes, take_batch
from infra.changes.deliver import ChangeRow
from infra.changes.failures import has_rows_that_back_off, retry_waiting
from infra.changes.lanes import LaneGroup, all_lanes, batch_size, group_of
from infra.changes.lease import Tokens
from infra.changes.wake_up import await_wake_up, quiet_s_of, wake
from infra.sharding.connection_health import give_back_connections
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


log = structlog.get_logger()


class Recoveries:
    """Counts the stores that came back. The threads of a drainer share it.

    A thread that sees a new count tries its waiting rows at once.
    """

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        """Not locked: threads only compare counts, and one new count is enough."""
        self.count += 1


class Outage:
    """One store as one thread sees it. Logs each outage once."""

    def __init__(self, store: str, recoveries: Recoveries) -> None:
        self._store, self._recoveries = store, recoveries
        self.is_away = False

    def begin(self, error: Exception) -> None:
        if not self.is_away:
            self.is_away = True
            log.warning("drainer.store_away", store=self._store, error=str(error))

    def end(self) -> None:
        if self.is_away:
            self.is_away = False
            log.info("drainer.store_back", store=self._store)
            self._recoveries.add()


# The least time between two batches. Changes that come in it share their statements: a row of many
# costs less than a row alone. The first change after a pause is delivered at once.
GATHER_S = 0.015
# Between two looks at the lanes while Redis is away, or while rows back off after a failure.
POLL_S = 0.25


class HeldLanes:
    """Raises in all methods: LeaseLost, errors of UNREACHABLE. Not thread-safe."""

    def __init__(self, alias: str, tokens: Tokens, recoveries: Recoveries) -> None:
        self._alias, self._tokens = alias, tokens
        self._redis = Outage("redis", recoveries)
        self._recoveries, self._seen_count = recoveries, -1
        self._throttle = Throttle(alias, [*tokens])
        self._has_failures = True
        self._taken_at = float("-inf")  # when the last rows were taken, by the monotonic clock
        self._groups = {group_of(lane) for lane in tokens}
        self._is_quiet = False  # the last wait ended without a wake-up

    def drain(self) -> bool:
        """Drains a batch of each lane that does not rest. Returns whether more rows are due.

        Waits until GATHER_S after the last batch.
        """
        time.sleep(max(0.0, self._taken_at + GATHER_S - time.monotonic()))
        self._retry_after_recovery()
        lanes = self._due_lanes() if self._is_quiet else self._open_lanes()
        rows = take_batch(self._alias, lanes) if lanes else []
        if rows:
            self._taken_at = time.monotonic()
        report = DrainReport()
        for batch in _split(rows):
            report.add(self._drain_batch(batch))
        self._note_failures(bool(rows), report.failed > 0)
        counts = Counter(row.lane for row in rows)
        full = [lane for lane, count in counts.items() if count == batch_size(lane)]
        for lane in full:
            self._throttle.end(lane)
        return report.more or bool(full)

    def wait(self, stopping: threading.Event) -> None:
        """Waits for a wake-up, the end of a throttle time, or the next look at the lanes."""
        look_s = POLL_S if self._has_failures else quiet_s_of(self._groups)
        timeout_s = max(0.001, min(look_s, self._throttle.next_end_s()))
        try:
            if self._redis.is_away:
                redis().call("PING")  # its timeout is short
            groups = sorted({group_of(lane) for lane in self._open_lanes()})
            is_woken = bool(groups) and await_wake_up(self._alias, groups, timeout_s)
        except RedisError as error:
            self._redis.begin(error)
            is_woken = False
            stopping.wait(min(timeout_s, POLL_S))
        else:
            self._redis.end()
        self._is_quiet = not is_woken

    def _drain_batch(self, batch: Sequence[ChangeRow]) -> DrainReport:
        held = {row.lane: self._tokens[row.lane] for row in batch}
        for lane in held:
            if group_of(lane) is LaneGroup.FOLDED:
                self._throttle.begin(lane)
        try:
            return drain_batch(self._alias, held, batch)
        finally:
            give_back_connections(keep=self._alias)

    def _retry_after_recovery(self) -> None:
        count = self._recoveries.count
        if count != self._seen_count:
            retry_waiting(self._alias, [*self._tokens])
            self._seen_count = count

    def _note_failures(self, has_rows: bool, has_failed: bool) -> None:
        if has_failed:
            self._has_failures = True
        elif self._has_failures and not has_rows:
            self._has_failures = has_rows_that_back_off(self._alias, [*self._tokens])

    def _due_lanes(self) -> list[int]:
        """Those with due rows, whose wake-up was lost. The ordinary thread wakes the others too."""
        if LaneGroup.ORDINARY not in self._groups or self._redis.is_away:  # they look themselves
            return list_due_lanes(self._alias, self._open_lanes())
        due = list_due_lanes(self._alias, all_lanes())
        if others := [lane for lane in due if group_of(lane) not in self._groups]:
            wake(self._alias, *others)
        return [lane for lane in self._open_lanes() if lane in due]

    def _open_lanes(self) -> list[int]:
        """The lanes that do not rest. Wake-ups of the others stay in Redis."""
        return [lane for lane in self._tokens if not self._throttle.is_resting(lane)]


def _split(rows: Sequence[ChangeRow]) -> Iterator[list[ChangeRow]]:
    """Batches of one group of lanes each; a bulk row is a batch of its own. Counts come first."""
    ordered = sorted(rows, key=lambda row: -group_of(row.lane))
    for group, members in groupby(ordered, key=lambda row: group_of(row.lane)):
        batch = [*members]
        yield from ([row] for row in batch) if group is LaneGroup.BULK else [batch]
