"""Posts in process memory, and the log of what is gone that keeps it honest (P4, P5).

    posts.gone:v1:{0}   stream; p → packed id of a post that may no longer be shown,
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

from accounts.queries.cards import forget_card, forget_cards
from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.process_cache import find_copies
from posts.ids import PACKED_BYTES, PostId

LOG = key("posts.gone:v1", 0)
FIELD = b"p"
MARK_BYTES = 8
ACCOUNT = Struct(">I")
KNOWN_S = 60
# Longer than any post stays in memory.
LOG_S = 600
# About 1.3 kB each.
MOST_KNOWN = 20_000
MOST_NEWS = 1_000


class Position(NamedTuple):
    """A place in the log. The value tells a log apart that was begun anew in the same instant."""

    entry_id: bytes
    value: bytes


class Look(NamedTuple):
    """A glance at the log from a position in it, or, with a mark, from the end on."""

    since: Position | None
    mark: bytes

    def command(self) -> Command:
        """Reply for `KnownPosts.settle`."""
        if self.since is None:
            return ("XADD", LOG, "*", FIELD, self.mark)
        return ("XRANGE", LOG, self.since.entry_id, "+", "COUNT", MOST_NEWS)


class KnownPosts:
    """Fragments of posts that were shown lately; one per process, shared by its threads."""

    def __init__(self) -> None:
        self._posts: TTLCache[PostId, bytes] = TTLCache(MOST_KNOWN, KNOWN_S)
        self._position: Position | None = None
        self._lock = threading.Lock()

    def look(self) -> Look:
        since = self._position
        return Look(since, b"" if since else secrets.token_bytes(MARK_BYTES))

    def settle(self, look: Look, reply: Any) -> Position | None:
        """Forgets what is gone; returns where the log stood, None when memory is not to be used."""
        if look.since is None:
            return self._begin(Position(reply, look.mark))
        if not reply or _position(reply[0]) != look.since or len(reply) == MOST_NEWS:
            self.forget_all()
            return None
        return look.since if len(reply) == 1 else self._forget(reply[1:])

    def find(self, ids: Collection[PostId], position: Position | None) -> dict[PostId, bytes]:
        """Those of the posts that are known and were not gone when the log stood there."""
        if position is None:
            return {}
        return find_copies(self._posts.get, ids)

    def keep(self, posts: Mapping[PostId, bytes], position: Position | None) -> None:
        """Remembers posts loaded after the log stood there, unless it has moved on since:
        one of them may be what it moved on for."""
        with self._lock:
            if position is not None and position == self._position:
                self._posts.update(posts)

    def forget_all(self) -> None:
        """Cards of accounts too: some of the news may have been about them."""
        with self._lock:
            self._posts.clear()
            self._position = None
        forget_cards()

    def _begin(self, position: Position) -> Position:
        """What is gone from here on will be noticed; what is in memory may have missed some."""
        with self._lock:
            self._posts.clear()
            self._position = position
        forget_cards()
        return position

    def _forget(self, news: Sequence[Any]) -> Position:
        newest, values = _position(news[-1]), [_position(entry).value for entry in news]
        with self._lock:
            for value in values:
                if len(value) == PACKED_BYTES:
                    self._posts.pop(PostId.from_packed(value), None)
                elif len(value) == ACCOUNT.size:
                    forget_card(*ACCOUNT.unpack(value))
            if self._position is None or _order(self._position) < _order(newest):
                self._position = newest
        return newest


known_posts = KnownPosts()


def gone_command(post_id: PostId, clock_s: float) -> Command:
    """Tells all processes that a post is gone. To be sent after every cache was told."""
    return _tell_command(post_id.packed, clock_s)


def account_command(account_id: int, clock_s: float) -> Command:
    """Tells them that an account is to be shown in another way, or not at all; likewise."""
    return _tell_command(ACCOUNT.pack(account_id), clock_s)


def _tell_command(value: bytes, clock_s: float) -> Command:
    oldest_ms = int((clock_s - LOG_S) * 1000)
    return ("XADD", LOG, "MINID", "~", oldest_ms, "*", FIELD, value)


def _position(entry: Any) -> Position:
    """Of one entry of a reply: [id, [field, value]]."""
    return Position(entry[0], entry[1][1])


def _order(position: Position) -> tuple[int, ...]:
    return tuple(map(int, position.entry_id.split(b"-")))
