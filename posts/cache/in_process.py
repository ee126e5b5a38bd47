"""Posts in process memory, and the invalidation log that removes deleted posts from it.

    posts.invalidations:v1:{0}   stream; field p is one of:
                        10 bytes   packed id of a post that may no longer be shown
                        4 bytes    id of an account that is to be shown differently
                        8 bytes    random token of a process that starts to read the log

A page reads the new entries of the log in a round trip that it makes anyway. It removes those posts
and accounts from memory before it uses the memory. If the log lacks the last entry that the process
saw, the log was lost or trimmed: the process then empties its memory and starts again with a token.
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
# Longer than a post stays in memory.
LOG_S = 600
# About 1.3 kB each.
MOST_POSTS = 20_000
MOST_ENTRIES = 1_000


class LogOffset(NamedTuple):
    """An entry of the log, up to which a process has read.

    Two logs that started in the same millisecond can have equal entry ids; the value differs.
    """

    entry_id: bytes
    value: bytes


class LogRead(NamedTuple):
    """One read of the log: from `since` on, or, without `since`, a first entry with `token`."""

    since: LogOffset | None
    token: bytes

    def command(self) -> Command:
        """Reply for `InProcessPosts.apply_log`."""
        if self.since is None:
            return ("XADD", LOG, "*", FIELD, self.token)
        return ("XRANGE", LOG, self.since.entry_id, "+", "COUNT", MOST_ENTRIES)


class InProcessPosts:
    """Fragments of recently shown posts; one instance a process, shared by its threads."""

    def __init__(self) -> None:
        self._posts: TTLCache[PostId, bytes] = TTLCache(MOST_POSTS, MEMORY_S)
        self._offset: LogOffset | None = None
        self._lock = threading.Lock()

    def plan_log_read(self) -> LogRead:
        """The next read of the log. Its command joins another round trip."""
        since = self._offset
        return LogRead(since, b"" if since else secrets.token_bytes(TOKEN_BYTES))

    def apply_log(self, log_read: LogRead, reply: Any) -> LogOffset | None:
        """Removes the posts that the reply names. Returns the new offset, for `find` and `keep`.

        None: entries are missing. The memory is then empty and cannot be used in this request.
        """
        if log_read.since is None:
            return self._start(LogOffset(reply, log_read.token))
        if not reply or _offset_of(reply[0]) != log_read.since or len(reply) == MOST_ENTRIES:
            self.forget_all()
            return None
        return log_read.since if len(reply) == 1 else self._remove(reply[1:])

    def find(self, ids: Collection[PostId], offset: LogOffset | None) -> dict[PostId, bytes]:
        """The posts among `ids` that are in memory. `offset`: from `apply_log`."""
        if offset is None:
            return {}
        return find_copies(self._posts.get, ids)

    def keep(self, posts: Mapping[PostId, bytes], offset: LogOffset | None) -> None:
        """Stores posts that were loaded after the log was read up to `offset`.

        Nothing is stored if another thread has read the log further since: a new entry may name
        one of these posts.
        """
        with self._lock:
            if offset is not None and offset == self._offset:
                self._posts.update(posts)

    def forget_all(self) -> None:
        """Empties the memory of posts and accounts. Missed entries may name accounts too."""
        with self._lock:
            self._posts.clear()
            self._offset = None
        forget_accounts()

    def _start(self, offset: LogOffset) -> LogOffset:
        """Sets the first offset. Empties the memory: older entries of the log were not read."""
        with self._lock:
            self._posts.clear()
            self._offset = offset
        forget_accounts()
        return offset

    def _remove(self, entries: Sequence[Any]) -> LogOffset:
        newest, values = _offset_of(entries[-1]), [_offset_of(entry).value for entry in entries]
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
    """Removes a post from the memory of all processes. Send it after all caches are updated."""
    return _invalidation_command(post_id.packed, clock_s)


def account_invalidation_command(account_id: int, clock_s: float) -> Command:
    """Removes an account from the memory of all processes. Send it after all caches are updated."""
    return _invalidation_command(ACCOUNT.pack(account_id), clock_s)


def _invalidation_command(value: bytes, clock_s: float) -> Command:
    oldest_ms = int((clock_s - LOG_S) * 1000)
    return ("XADD", LOG, "MINID", "~", oldest_ms, "*", FIELD, value)


def _offset_of(entry: Any) -> LogOffset:
    """The offset of one entry of a reply: [id, [field, value]]."""
    return LogOffset(entry[0], entry[1][1])


def _order(offset: LogOffset) -> tuple[int, ...]:
    return tuple(map(int, offset.entry_id.split(b"-")))
