"""The invalidation log: what every process must drop from its memory, in the order of the changes.

    caching.invalidation_log:v1:{0}   stream; field p is the kind of the entry, then its subject:

    s   8 random bytes             a process starts to read the log
    f   nothing                    drop everything
    p   post id, 10 bytes          the post was deleted or hidden
    a   account id, 4 bytes        the account was restricted or its profile changed
    t   checksum of a token, 32    the token ended, or its user was restricted
    h   nothing                    the set of hot authors changed
    q   account id, 4 bytes        the account follows quietly: its following list hides more
    b   reserved                   a bucket moved

A request reads the new entries in a round trip that it makes anyway. It drops their subjects from
memory before it uses the memory. If the log lacks the last entry that the process saw, the log was
lost or trimmed: the process drops everything and starts again with a token. A process that does not
know a kind drops everything too.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import msgspec
from prometheus_client import Counter

from infra.caching.client import Command, redis
from infra.caching.invalidation import forget_all_copies
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.read_limits import TOKEN_WINDOW_S
from infra.read_window import is_in_window, note_change
from infra.telemetry.reached_branches import reached

LOG_KEY = key("caching.invalidation_log:v1", 0)
FIELD = b"p"
TOKEN_BYTES = 8
# A process that reads nothing for so long drops its memory.
LOG_S = 600
# How late a process may be that does not read the log first. Answers to what ends tokens wait so
# long.
FRESH_S = TOKEN_WINDOW_S
MOST_ENTRIES = 1_000

LOSSES = Counter(
    "tideline_invalidation_log_losses_total",
    "Times that a process dropped its memory because entries of the log were missing",
)


class LogEntryKind(bytes, Enum):
    """The first byte of an entry."""

    START = b"s"
    FLUSH = b"f"
    POST = b"p"
    ACCOUNT = b"a"
    TOKEN = b"t"
    HOT_AUTHORS = b"h"
    QUIET_FOLLOW = b"q"
    # Of the viewer log (viewer_log.py).
    VIEWERS = b"v"


_KINDS = frozenset(kind.value for kind in LogEntryKind)


class LogOffset(NamedTuple):
    """An entry of the log, up to which a process has read.

    Two logs that started in the same millisecond can have equal entry ids; the value differs.
    """

    entry_id: bytes
    value: bytes


class LogReading(msgspec.Struct, frozen=True):
    """`token`: the value of the first entry, if `since` is None. `asked_at`: of the log's clock."""

    since: LogOffset | None
    asked_at: float
    token: bytes


class LogQuestion(Question[LogOffset | None]):
    """What the log has after `since`. Without `since` it adds a first entry.

    The answer is the new offset: process memory may be used with it. None: Redis is away, or
    entries are missing; the memory cannot be used in this request. In the read window there is no
    command, and the answer is `since`.
    """

    __slots__ = ("since",)

    def __init__(
        self, log: "InvalidationLog", since: LogOffset | None, asked_at: float | None
    ) -> None:
        """`asked_at` None: the read window has the answer."""
        self.since = since
        if asked_at is None:
            super().__init__((), lambda replies: None if replies is None else since)
            return
        token = b"" if since else LogEntryKind.START.value + secrets.token_bytes(TOKEN_BYTES)
        command: Command = ("XADD", log.key, "*", FIELD, token)
        if since is not None:
            command = ("XRANGE", log.key, since.entry_id, "+", "COUNT", log.most_entries)
        # Not a method of this object: each request would leave a cycle to the garbage collector.
        super().__init__([command], partial(_decode, log, LogReading(since, asked_at, token)))

    def names(self, kind: LogEntryKind) -> bool:
        """Whether the reply has an entry of this kind, or one that drops everything.

        True without an answer, and for the start of the log.
        """
        if self.since is None or self.value is None:
            return True
        others = _KINDS - {kind.value, LogEntryKind.FLUSH.value}
        entries = self._replies[0][1:] if self._replies else ()
        return any(_offset_of(entry).value[:1] not in others for entry in entries)

    def receive(self, replies: Replies) -> None:
        """Drops what the reply names at once, before another answer is made of memory."""
        self._replies = replies
        self._answer, self._is_decoded = self.decode(replies), True


def _decode(log: "InvalidationLog", reading: LogReading, replies: Replies) -> LogOffset | None:
    return None if replies is None else log.apply(reading, replies[0])


Forget = Callable[[bytes], object]
ForgetAll = Callable[[], object]


class InvalidationLog:
    """How far this process has read the log, and which memory depends on it. Shared by threads."""

    key = LOG_KEY
    most_entries = MOST_ENTRIES

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._offset: LogOffset | None = None
        self._read_at = self._required_at = float("-inf")
        self._lock = threading.Lock()
        self._forget: dict[bytes, Forget] = {LogEntryKind.START: lambda _: None}
        self._memories: list[ForgetAll] = [forget_all_copies]

    def register(self, kind: LogEntryKind, forget: Forget) -> None:
        """Entries of this kind call `forget` with their subject. It must not use the log."""
        self._forget[kind.value] = forget

    def register_memory(self, forget_all: ForgetAll) -> None:
        """When entries are missing, this is called too. It must not use the log."""
        self._memories.append(forget_all)

    def ask(self) -> LogQuestion:
        """What is new in the log. Ask it before anything that uses process memory."""
        known = self.find_offset_in_window()
        if known is not None:
            return LogQuestion(self, known, None)
        return LogQuestion(self, self._offset, self._clock())

    def find_offset_in_window(self) -> LogOffset | None:
        """The offset, if the current read need not ask for a newer one (read_window.py)."""
        # In this order: another thread may begin to read the log again.
        read_at, offset = self._read_at, self._offset
        return offset if is_in_window(read_at) else None

    def apply(self, reading: LogReading, reply: Any) -> LogOffset | None:
        """Drops what the reply names. Returns the answer to the question."""
        since = reading.since
        if since is None:
            offset = self._start(LogOffset(reply, reading.token))
        elif not reply or _offset_of(reply[0]) != since or len(reply) == self.most_entries:
            self._report_gap()
            self.forget_all()
            return None
        else:
            offset = since if len(reply) == 1 else self._forget_entries(reply[1:])
        self._read_at = max(self._read_at, reading.asked_at)
        return offset

    def read(self) -> LogOffset | None:
        """The answer to `ask`. Raises: RedisError. Cost: one round trip."""
        question = self.ask()
        question.receive(redis().run(question.commands()))
        return question.value

    def find_fresh_offset(self) -> LogOffset | None:
        """The offset, if a request of this process read the log in the last FRESH_S. No round trip.

        For those who cannot read the log in a round trip that they make anyway.
        """
        offset, read_at = self._offset, self._read_at
        is_fresh = read_at > self._clock() - FRESH_S and read_at > self._required_at
        return offset if is_fresh else None

    def was_read_since(self, moment: float) -> bool:
        """Whether this process has read the log since then, by the monotonic clock."""
        return self._read_at > moment

    def require_read(self) -> None:
        """This process has changed something: reads from before now are not fresh any more."""
        self._required_at = self._clock()

    def keep(self, offset: LogOffset | None, store: Callable[[], object]) -> None:
        """Calls `store` with values that were loaded after the log was read up to `offset`.

        Not if another thread has read the log further since: a new entry may name these values.
        """
        with self._lock:
            if offset is not None and offset == self._offset:
                store()

    def forget_all(self) -> None:
        """Drops all copies of this process; its next request starts to read the log again."""
        with self._lock:
            self._empty_memory()
            self._offset, self._read_at = None, float("-inf")

    def _report_gap(self) -> None:
        reached("invalidation_log.gap")
        LOSSES.inc()

    def _start(self, offset: LogOffset) -> LogOffset:
        """Sets the first offset. Older entries of the log were not read, so nothing is kept.

        Several threads may start at the same time. The newest start holds, whichever comes first: a
        thread that used an older one would bring back what the others know of the time in between.
        """
        with self._lock:
            if self._offset is None or _order(self._offset) < _order(offset):
                self._empty_memory()
                self._offset = offset
        return offset

    def _empty_memory(self) -> None:
        for forget_all in self._memories:
            forget_all()

    def _forget_entries(self, entries: Sequence[Any]) -> LogOffset:
        offsets = list(map(_offset_of, entries))
        with self._lock:
            for value in dict.fromkeys(offset.value for offset in offsets):
                forget = self._forget.get(value[:1])
                if forget is None:  # FLUSH, or a kind of a later release
                    self._empty_memory()
                else:
                    forget(value[1:])
            if self._offset is None or _order(self._offset) < _order(offsets[-1]):
                self._offset = offsets[-1]
        return offsets[-1]


LOG = InvalidationLog()


def log_command(kind: LogEntryKind, subject: bytes, clock_s: float) -> Command:
    """Makes all processes drop the subject.

    Send it in a round trip of its own, after the one that updates the caches: a script that Redis
    does not know runs after the other commands of its round trip.
    """
    note_change(ends_tokens=kind is LogEntryKind.TOKEN)
    return ("XADD", LOG_KEY, "MINID", "~", oldest_ms(clock_s), "*", FIELD, kind.value + subject)


def oldest_ms(clock_s: float) -> int:
    """Entries from before this time are trimmed."""
    return int((clock_s - LOG_S) * 1000)


def _offset_of(entry: Any) -> LogOffset:
    """The offset of one entry of a reply: [id, [field, value]]."""
    return LogOffset(entry[0], entry[1][1])


def _order(offset: LogOffset) -> tuple[int, ...]:
    return tuple(map(int, offset.entry_id.split(b"-")))
