"""Posts in process memory, and the invalidation log that keeps it honest (P4, P5).

    posts.invalidations:v1:{0}   stream; p → packed id of a post that may no longer be shown,
                        or the id of an account that is to be shown in another way (4 bytes),
                        or the mark of a process that begins (MARK_BYTES at random)

A page asks, in a round trip it makes anyway, what the log has that this process has not seen, and
forgets those posts, and cards of those accounts, before it looks for any. A log that lacks the last
entry seen was lost or cut: then everything is forgotten, and the process begins again with a mark
of its own.
"""

import secrets
import threading
from collections.abc import Collection, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

from cachebox import TTLCache

from accounts.queries.in_process import forget_account, forget_accounts
from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.process_cache import find_copies
from posts.ids import PACKED_BYTES, PostId

LOG = key("posts.invalidations:v1", 0)
FIELD = b"p"
TOKEN_BYTES = 8
ACCOUNT = Struct(">I")
MEMORY_S = 60
# Longer than any post stays in memory.
LOG_S = 600
# About 1.3 kB each.
MOST_POSTS = 20_000
MOST_ENTRIES = 1_000


class LogOffset(NamedTuple):
    """A place in the log. The value tells a log apart that was begun anew in the same instant."""

    entry_id: bytes
    value: bytes


class LogRead(NamedTuple):
    """A glance at the log from a offset in it, or, with a mark, from the end on."""

    since: LogOffset | None
    mark: bytes

    def command(self) -> Command:
        """Reply for `InProcessPosts.apply_log`."""
        if self.since is None:
            return ("XADD", LOG, "*", FIELD, self.mark)
        return ("XRANGE", LOG, self.since.entry_id, "+", "COUNT", MOST_ENTRIES)


class InProcessPosts:
    """Fragments of posts that were shown lately; one per process, shared by its threads."""

    def __init__(self) -> None:
        self._posts: TTLCache[PostId, bytes] = TTLCache(MOST_POSTS, MEMORY_S)
        self._offset: LogOffset | None = None
        self._lock = threading.Lock()

    def plan_log_read(self) -> LogRead:
        since = self._offset
        return LogRead(since, b"" if since else secrets.token_bytes(TOKEN_BYTES))

    def apply_log(self, log_read: LogRead, reply: Any) -> LogOffset | None:
        """Forgets what is gone; returns where the log stood, None when memory is not to be used."""
        if log_read.since is None:
            return self._begin(LogOffset(reply, log_read.mark))
        if not reply or _offset_of(reply[0]) != log_read.since or len(reply) == MOST_ENTRIES:
            self.forget_all()
            return None
        return log_read.since if len(reply) == 1 else self._forget(reply[1:])

    def find(self, ids: Collection[PostId], offset: LogOffset | None) -> dict[PostId, bytes]:
        """Those of the posts that are known and were not gone when the log stood there."""
        if offset is None:
            return {}
        return find_copies(self._posts.get, ids)

    def keep(self, posts: Mapping[PostId, bytes], offset: LogOffset | None) -> None:
        """Remembers posts loaded after the log stood there, unless it has moved on since:
        one of them may be what it moved on for."""
        with self._lock:
            if offset is not None and offset == self._offset:
                self._posts.update(posts)

    def forget_all(self) -> None:
        """Cards of accounts too: some of the news may have been about them."""
        with self._lock:
            self._posts.clear()
            self._offset = None
        forget_accounts()

    def _begin(self, offset: LogOffset) -> LogOffset:
        """What is gone from here on will be noticed; what is in memory may have missed some."""
        with self._lock:
            self._posts.clear()
            self._offset = offset
        forget_accounts()
        return offset

    def _forget(self, news: Sequence[Any]) -> LogOffset:
        newest, values = _offset_of(news[-1]), [_offset_of(entry).value for entry in news]
        with self._lock:
            for value in values:
                if len(value) == PACKED_BYTES:
                    self._posts.pop(PostId.from_packed(value), None)
                elif len(value) == ACCOUNT.size:
                    forget_account(*ACCOUNT.unpack(value))
            if self._offset is None or _order(self._offset) < _order(newest):
                self._offset = newest
        return newest


in_process_posts = InProcessPosts()


def post_invalidation_command(post_id: PostId, clock_s: float) -> Command:
    """Tells all processes that a post is gone. To be sent after every cache was told."""
    return _invalidation_command(post_id.packed, clock_s)


def account_invalidation_command(account_id: int, clock_s: float) -> Command:
    """Tells them that an account is to be shown in another way, or not at all; likewise."""
    return _invalidation_command(ACCOUNT.pack(account_id), clock_s)


def _invalidation_command(value: bytes, clock_s: float) -> Command:
    oldest_ms = int((clock_s - LOG_S) * 1000)
    return ("XADD", LOG, "MINID", "~", oldest_ms, "*", FIELD, value)


def _offset_of(entry: Any) -> LogOffset:
    """Of one entry of a reply: [id, [field, value]]."""
    return LogOffset(entry[0], entry[1][1])


def _order(offset: LogOffset) -> tuple[int, ...]:
    return tuple(map(int, offset.entry_id.split(b"-")))
