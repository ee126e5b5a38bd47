"""Records when late posts became visible on a shard: what a poll returns once more depends on it.

A post is visible SETTLE_MS after its row arrived, or it is settled later than that (ADR 0034). So
the code that indexes posts and then pushes them measures how long that took.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.scatter import scatter
from infra.sharding.sql import execute
from posts.ids import PostId

SETTLE_MS = 200
NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
log = structlog.get_logger()
# In key order, so that two writers of the same rows cannot deadlock.
SETTLE = f"""
UPDATE timelines_recentpost AS post SET settled = {NOW_MS} + %s
FROM (
    SELECT late.author_id, late.moment FROM timelines_recentpost AS late
    JOIN unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment) USING (author_id, moment)
    WHERE COALESCE(late.settled, late.arrival) < {NOW_MS} - {SETTLE_MS}
    ORDER BY author_id, moment FOR UPDATE OF late
) AS wanted
WHERE post.author_id = wanted.author_id AND post.moment = wanted.moment
"""  # noqa: S608


class Stopwatch:
    """Started before posts are indexed, read after they were pushed."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def took_ms(self) -> int:
        return int((time.monotonic() - self._started) * 1000)

    @property
    def is_late(self) -> bool:
        """Whether the posts must be settled."""
        return self.took_ms > SETTLE_MS


def settle_in_time(settle: Callable[[int], int]) -> int:
    """How many posts were settled, in a transaction that ended before the time it has written.

    `settle(ahead_ms)` writes the shard's clock and `ahead_ms` to posts whose time is more than
    SETTLE_MS ago, and returns how many those are. Its commit may take long: the disk is busy, or
    the server hangs. A client that polls until then reads the time before, and asks next time only
    for what is newer. So it is done again, with a time that is later than such a commit.
    """
    ahead_ms = 0
    while True:
        stopwatch = Stopwatch()
        count, took_ms = settle(ahead_ms), stopwatch.took_ms
        if not count or took_ms <= SETTLE_MS + ahead_ms:
            return count
        log.warning("posts.settled_late", took_ms=took_ms)
        ahead_ms = 2 * took_ms


def settle_recent(alias: str, events: Iterable[PostId]) -> int:
    """Records that these posts became visible only now. Call it after the push, before the change
    is filed: a push that dies is repeated, and the repetition settles.

    Raises: OperationalError, InterfaceError. Safety: idempotent. Cost: one statement, one more
    after each that took longer than SETTLE_MS.
    """
    ordered = sorted(events, key=lambda event: (event.author_id, event.moment))
    columns = [event.author_id for event in ordered], [event.moment for event in ordered]
    return settle_in_time(lambda ahead_ms: execute(alias, SETTLE, (ahead_ms, *columns)))


def settle_everywhere(aliases: Iterable[str], events: Sequence[PostId]) -> list[str]:
    """Settles posts on several shards, in parallel; returns the shards that do not answer."""
    done = scatter({alias: partial(_settle_or_log, alias, events) for alias in aliases})
    return [alias for alias, is_settled in done.items() if not is_settled]


def _settle_or_log(alias: str, events: Sequence[PostId]) -> bool:
    try:
        settle_recent(alias, events)
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.not_settled", shard=alias, error=str(error))
        return False
    return True
