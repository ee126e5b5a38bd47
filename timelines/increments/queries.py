"""Which of these accounts posted since? Answered from this machine's last-post index.

The answer may be "unknown": then the caller asks a store.
"""

import os
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from django.conf import settings

from infra.clock import now_ms
from infra.telemetry.gauges import process_gauge
from posts.ids import PostId
from timelines.increments.last_post_index import (
    LATEST_SHIFT,
    HeaderWord,
    LastPostIndex,
    open_index,
)
from timelines.increments.post_stream import LAG_S
from timelines.increments.updater import Applier, Source, Updater

# Four turns of the updater in a row have failed.
STALE_MS = 2_000
REOPEN_MS = 100
COMPLETE_FROM, APPLIED_MS = int(HeaderWord.COMPLETE_FROM), int(HeaderWord.APPLIED_MS)
CAUGHT_UP, NEWEST = int(HeaderWord.CAUGHT_UP), int(HeaderWord.NEWEST)
LAG = process_gauge(
    "tideline_increments_lag_seconds", "Since the last-post index was caught up; -1: not read yet"
)

AccountIds = npt.NDArray[np.int64]


class IndexSnapshot(NamedTuple):
    """The index and how far it reached at one moment.

    `as_of`: second; posts that arrive from now on count as posted in this second or later.
    """

    last_posts: LastPostIndex
    as_of: int

    def is_complete_since(self, since: PostId) -> bool:
        """Whether the index knows all posts that are newer than `since`."""
        return since.second >= self.last_posts.header[COMPLETE_FROM]

    def may_have_newer(self, since: PostId) -> bool:
        """False: no account at all has published anything newer than `since`."""
        return self.last_posts.header[NEWEST] >= since.second


class Increments:
    """This process's view of the machine's last-post index. Shared by threads."""

    def __init__(self, path: Path, updater: Updater, clock_ms: Callable[[], int]) -> None:
        self.updater = updater
        self._path = path
        self._clock_ms = clock_ms
        self._index: LastPostIndex | None = None
        self._reopen_at_ms = 0

    def snapshot(self) -> IndexSnapshot | None:
        """None if no process brings the index up to the stream. Cost: no store."""
        index = self._current()
        if index is None:
            return None
        return IndexSnapshot(index, index.header[CAUGHT_UP] - LAG_S)

    def authors_since(self, account_ids: AccountIds, since: PostId) -> list[int] | None:
        """Those of the accounts that posted something newer than `since`, newest first.

        None means unknown: no process applies the stream, the stream was lost, or `since` is older
        than the index knows. A post is found once it was applied. A post that arrived more than
        LAG_S late counts as posted LAG_S before it arrived. A deleted post still counts.
        Cost: no store.
        """
        index = self._current()
        return None if index is None else find_authors(index, account_ids, since)

    def lag_s(self) -> float:
        """Seconds since the index was caught up; -1 before this process opened it."""
        index = self._index
        return -1 if index is None else (self._clock_ms() - index.header[APPLIED_MS]) / 1000

    def _current(self) -> LastPostIndex | None:
        """The index, if it was caught up a moment ago."""
        index = self._index
        if index is None or index.has_grown or not _is_fresh(index, self._clock_ms()):
            return self._reopen()
        return index

    def _reopen(self) -> LastPostIndex | None:
        """Opens the index again where needed. The first call starts the updater's thread."""
        self.updater.start()
        at_ms, index = self._clock_ms(), self._index
        if at_ms < self._reopen_at_ms:
            return None
        self._reopen_at_ms = at_ms + REOPEN_MS
        if index is None or index.has_grown or not index.is_at(self._path):
            index = self._index = _find_index(self._path)
        return index if index is not None and _is_fresh(index, at_ms) else None


def find_authors(index: LastPostIndex, account_ids: AccountIds, since: PostId) -> list[int] | None:
    """As `Increments.authors_since`, from an index that the caller knows is fresh."""
    second = since.second
    if second < index.header[COMPLETE_FROM]:
        return None
    if not len(account_ids):
        return []
    # With an array for the result `take` costs half.
    cells = np.empty(len(account_ids), np.uint64)
    index.cells.take(account_ids, None, cells, "clip")
    lowest = second * 2 << LATEST_SHIFT
    if cells.item(cells.argmax()) < lowest:
        return []
    places = (cells >= np.uint64(lowest)).nonzero()[0]
    values = (cells[places] >> LATEST_SHIFT).tolist()
    return _newest_first(zip(values, account_ids[places].tolist(), strict=True), since)


def _newest_first(pairs: Iterable[tuple[int, int]], since: PostId) -> list[int] | None:
    """The accounts with a post after `since`; `pairs` have one in the second of `since` or later.

    Posts of one second are ordered by author. None if the author of `since` posted more than twice
    in that second: the index does not know how often.
    """
    seconds = []
    for value, account_id in pairs:
        second, has_more = divmod(value, 2)
        if (second, account_id) == (since.second, since.author_id) and has_more:
            if since.sequence:
                return None
            seconds.append((second, account_id))
        elif (second, account_id) > (since.second, since.author_id):
            seconds.append((second, account_id))
    return [account_id for _, account_id in sorted(seconds, reverse=True)]


def _is_fresh(index: LastPostIndex, at_ms: int) -> bool:
    return -STALE_MS < at_ms - index.header[APPLIED_MS] < STALE_MS


def _find_index(path: Path) -> LastPostIndex | None:
    try:
        return open_index(path)
    except OSError:
        return None


@cache
def increments() -> Increments:
    """The instance of this process. Its files are named after the Redis that feeds them."""
    name = blake2b(settings.REDIS_URL.encode(), digest_size=8).hexdigest()
    path = Path(settings.RUNTIME_DIR) / f"increments-{name}.index"
    applier = Applier(path, now_ms, Source())
    instance = Increments(path, Updater(path.with_suffix(".lock"), applier.catch_up), now_ms)
    LAG.set_function(instance.lag_s)
    return instance


# A forked process opens the index itself.
os.register_at_fork(after_in_child=increments.cache_clear)


def forget_increments() -> None:
    """Stops the updater and forgets the index; the next question starts again."""
    if increments.cache_info().currsize:
        increments().updater.stop()
        increments.cache_clear()
