"""The viewer log: which viewers' validators have changed. Only busy processes read it.

    caching.viewer_log:v1:{0}   stream; field p is the kind of the entry, then its subject:

    s   8 random bytes             a process starts to read the log
    v   account ids, 4 bytes each  a field of the validators of these viewers has changed

A busy process keeps the validators that it has read, and this log says which of them have ended. So
in the read window (read_window.py) it knows a viewer's validators without a round trip. A process
that is far behind starts again without any: the hashes of validators in Redis are the truth.
"""

import time
from collections.abc import Iterable
from functools import partial
from struct import Struct
from typing import Generic, NamedTuple, TypeVar

from cachebox import LRUCache
from django.conf import settings
from prometheus_client import Counter

from infra.caching.client import Command
from infra.caching.invalidation_log import (
    FIELD,
    LOG,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    LogQuestion,
)
from infra.caching.keys import key
from infra.read_window import may_use_window, note_change

V = TypeVar("V")
LOG_KEY = key("caching.viewer_log:v1", 0)
_ACCOUNT = Struct(">I")
# About 400 bytes each.
MOST_KNOWN = 5_000
# A change that forgets its entry would be a mistake; this bounds how long it is seen.
KNOWN_S = 30.0
# A process that has not asked Redis for so long is not busy.
BUSY_S = 0.25
# Older entries are trimmed.
KEPT_S = 60
# With more new entries than this, a process would spend more time on them than it saves.
MOST_ENTRIES = 200
PAUSE_S = 1.0
GAPS = Counter(
    "tideline_viewer_log_gaps_total",
    "Times that a process stopped to keep validators for a second, because too many had changed",
)


class _Known(NamedTuple, Generic[V]):
    """What Redis had, and when this process kept it, by the monotonic clock."""

    value: V
    kept_at: float


class ViewerLog(InvalidationLog, Generic[V]):
    """How far this process has read the log, and what it knows of viewers. Shared by threads."""

    key = LOG_KEY
    most_entries = MOST_ENTRIES

    def __init__(self) -> None:
        super().__init__()
        self._known: LRUCache[int, _Known[V]] = LRUCache(MOST_KNOWN)
        self._paused_until = float("-inf")
        self._memories = [self._known.clear]
        self.register(LogEntryKind.VIEWERS, self._forget_packed)

    def peek(self, viewer_id: int) -> V | None:
        """What Redis had of this viewer, up to where this process has read the log."""
        known = self._known.get(viewer_id)
        if known is None or time.monotonic() - known.kept_at >= KNOWN_S:
            return None
        return known.value

    def ask_if_busy(self) -> LogQuestion | None:
        """What is new in the log. Ask it before what is to be kept. None: nothing can be kept."""
        if not may_use_window():
            return None
        now = time.monotonic()
        if now < self._paused_until or not LOG.was_read_since(now - BUSY_S):
            return None
        if not self.was_read_since(now - BUSY_S):
            self.forget_all()
        return self.ask()

    def keep_known(self, viewer_id: int, value: V, offset: LogOffset | None) -> None:
        """Keeps what was read after the log was read up to `offset`."""
        known = _Known(value, time.monotonic())
        self.keep(offset, partial(self._known.insert, viewer_id, known))

    def forget(self, viewer_id: int) -> None:
        """This process has changed something of the viewer."""
        self._known.pop(viewer_id, None)

    def _forget_packed(self, subject: bytes) -> None:
        for (viewer_id,) in _ACCOUNT.iter_unpack(subject):
            self.forget(viewer_id)

    def _report_gap(self) -> None:
        GAPS.inc()
        self._paused_until = time.monotonic() + PAUSE_S


def viewer_log_commands(viewer_ids: Iterable[int]) -> list[Command]:
    """A field of the validators of these viewers has changed. Send them after that change.

    At most one command. None without viewers, and on a cluster, where no process reads the log.
    """
    subject = b"".join(map(_ACCOUNT.pack, viewer_ids))
    if not subject or settings.REDIS_CLUSTER:
        return []
    note_change()
    oldest = int((time.time() - KEPT_S) * 1000)
    entry = LogEntryKind.VIEWERS.value + subject
    return [("XADD", LOG_KEY, "MINID", "~", oldest, "*", FIELD, entry)]
