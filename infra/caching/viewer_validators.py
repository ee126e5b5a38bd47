"""The validators of a viewer: whether what a process knows about the viewer is still valid.

    caching.viewer:v1:{viewer}   hash; field → random bytes
        r   relationships with other accounts
        f   the following list
        s   the viewer state: favourites, bookmarks, reposts
        p   the list of the viewer's own posts
        w   no validator: when the viewer wrote something last, in Unix nanoseconds

A page reads all of them with one HMGET in its first round trip. A value that was loaded after that
read is valid in process memory while the field is the same. A change drops or replaces its field
after the caches were changed. A missing field says that nothing is known: the value is read again.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from cachebox import LRUCache

from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.invalidation import register_copies
from infra.caching.invalidation_log import LOG, LogQuestion
from infra.caching.keys import key
from infra.caching.listener import LISTENER
from infra.caching.questions import Question, Replies, answer
from infra.caching.server_identity import on_other_server
from infra.caching.viewer_log import ViewerLog, viewer_log_commands

V = TypeVar("V")

FAMILY = "caching.viewer:v1"
VALIDATOR_BYTES = 8
TTL_MS = 86_400_000
# Longer than copies of counts are behind (HOT_COPY_MS is at most 5,000), and than clocks differ.
OWN_WRITE_S = 6
# About 100 bytes each.
MOST_WRITERS = 10_000


class ViewerField(bytes, Enum):
    """One validator of a viewer."""

    RELATIONSHIPS = b"r"
    FOLLOWING = b"f"
    STATE = b"s"
    POSTS = b"p"
    WROTE = b"w"


# Plain bytes for the hot path: reading a member of an enumeration is slow.
_FIELDS = tuple(field.value for field in ViewerField)


class ViewerValidators(NamedTuple):
    """The validators as Redis has them; None: missing, or without Redis.

    `wrote_at`: see `wrote_commands`. `wrote_lately`: the viewer's reads must not use names and
    counts from process memory, because the invalidations of the viewer's write may be on their way.
    """

    relationships: bytes | None = None
    following: bytes | None = None
    state: bytes | None = None
    posts: bytes | None = None
    wrote_at: bytes | None = None
    wrote_lately: bool = False

    @property
    def are_complete(self) -> bool:
        """Whether a process may know all of a viewer that validators are for."""
        return None not in self[:3]


NO_VALIDATORS = ViewerValidators()
VIEWER_LOG: ViewerLog[ViewerValidators] = ViewerLog()
LOG.register_memory(VIEWER_LOG.forget_all)
on_other_server(VIEWER_LOG.forget_all)
# The last write of each viewer that this process has seen, and when it saw it first, by the
# monotonic clock.
_seen_writes: LRUCache[int, tuple[bytes, float]] = LRUCache(MOST_WRITERS)


def _wrote_lately(viewer_id: int, wrote_at: bytes | None) -> bool:
    """As in ViewerValidators. `wrote_at`: of a reply of just now.

    Redis has the time of a write after it has published the invalidations. So a proof that was
    asked for after the time was seen proves that they have arrived.
    """
    if wrote_at is None:
        return False
    wrote_at_ns = decode(FAMILY, int, wrote_at)
    if wrote_at_ns is None or wrote_at_ns < time.time_ns() - OWN_WRITE_S * 1_000_000_000:
        return False
    seen = _seen_writes.get(viewer_id)
    if seen is None or seen[0] != wrote_at:
        _seen_writes[viewer_id] = (wrote_at, time.monotonic())
        return True
    return not LISTENER.has_all_since(seen[1])


def find_known_validators(viewer_id: int) -> ViewerValidators | None:
    """The viewer's validators, if the current read need not ask for them. Cost: none.

    None: ask Redis. This is so outside the read window, and for viewers who wrote lately.
    """
    in_window = VIEWER_LOG.find_offset_in_window() and LOG.find_offset_in_window()
    return VIEWER_LOG.peek(viewer_id) if in_window else None


def viewer_key(viewer_id: int) -> bytes:
    return key(FAMILY, viewer_id)


def make_validator() -> bytes:
    return secrets.token_bytes(VALIDATOR_BYTES)


class ValidatorsQuestion(Question[ViewerValidators]):
    """The viewer's validators. Ask it before the values that they are for.

    Cost: one command, and for a busy process one more that reads the viewer log. If the process
    knows the validators, only the log is read, and nothing in the read window.
    """

    __slots__ = ("_created", "_known", "_log", "_viewer_id")

    def __init__(self, viewer_id: int) -> None:
        self._viewer_id = viewer_id
        self._created: list[Command] = []
        self._log = VIEWER_LOG.ask_if_busy()
        self._known = VIEWER_LOG.peek(viewer_id) if self._log is not None else None
        super().__init__((), partial(_decode_validators, viewer_id, self._log, self._known))

    def create(self, *fields: ViewerField) -> None:
        """Adds these fields if they are missing, for values of which this process has no copy.

        The relationship cache adds its own.
        """
        name = viewer_key(self._viewer_id)
        self._created += [("HSETNX", name, field.value, make_validator()) for field in fields]
        self._known = None
        self.decode = partial(_decode_validators, self._viewer_id, self._log, None)

    def commands(self) -> Sequence[Command]:
        log = self._log.commands() if self._log is not None else ()
        if self._known is not None:
            return log
        name = viewer_key(self._viewer_id)
        read = ("HMGET", name, *_FIELDS)
        if not self._created:
            return (*log, read)
        return [*log, *self._created, ("PEXPIRE", name, TTL_MS), read]


def _decode_validators(
    viewer_id: int, log: LogQuestion | None, known: ViewerValidators | None, replies: Replies
) -> ViewerValidators:
    if replies is None:
        return NO_VALIDATORS
    offset = log.decode(replies) if log is not None else None
    if known is not None:
        is_valid = offset is not None and VIEWER_LOG.peek(viewer_id) is known
        return known if is_valid else answer(ValidatorsQuestion(viewer_id))
    relationships, following, state, posts, wrote_at = replies[-1]
    wrote_lately = _wrote_lately(viewer_id, wrote_at)
    found = ViewerValidators(relationships, following, state, posts, wrote_at, wrote_lately)
    # Whether a viewer wrote lately changes by the clock.
    if not wrote_lately:
        VIEWER_LOG.keep_known(viewer_id, found, offset)
    return found


def wrote_commands(viewer_id: int) -> list[Command]:
    """The viewer has written something. For a round trip between the commit and the answer.

    Send them after the invalidations of the write, and again after further ones: each write has a
    time of its own.
    """
    name = viewer_key(viewer_id)
    return [
        ("HSET", name, ViewerField.WROTE.value, time.time_ns()),
        ("PEXPIRE", name, TTL_MS),
        *viewer_log_commands([viewer_id]),
    ]


def record_own_writes(viewer_ids: Iterable[int]) -> None:
    """The same for several viewers, in a round trip of its own. Raises: RedisError."""
    redis().run([command for viewer_id in viewer_ids for command in wrote_commands(viewer_id)])


def drop_validator_commands(viewer_ids: Iterable[int], field: ViewerField) -> list[Command]:
    """Ends copies of the viewers' values in all processes.

    Send them in a round trip of their own, after the one that changes the caches: a script that
    Redis does not know runs after the other commands of its round trip.
    """
    owners = list(viewer_ids)
    ended: list[Command] = [("HDEL", viewer_key(owner), field.value) for owner in owners]
    return [*ended, *viewer_log_commands(owners)]


class ViewerCopies(Generic[V]):
    """Values in process memory, one a viewer, each with the validator that it was loaded under.

    At most `most` values; with `weigh`, values that weigh so much together. One that weighs more is
    not kept. An invalidation by pub/sub only drops a copy before the validator does.
    """

    def __init__(self, family: str, most: int, weigh: Callable[[V], int] | None = None) -> None:
        weigh_copy = None if weigh is None else lambda _, copy: weigh(copy[1])
        self._copies: LRUCache[int, tuple[bytes, V]] = LRUCache(most, getsizeof=weigh_copy)
        register_copies(family, self)

    def has(self, viewer_id: int) -> bool:
        """Whether there is a copy, valid or not."""
        return viewer_id in self._copies

    def find(self, viewer_id: int, validator: bytes | None) -> V | None:
        """The copy, if it was loaded under this validator. Another copy is dropped."""
        copy = self._copies.get(viewer_id)
        if copy is not None and copy[0] == validator:
            return copy[1]
        self.forget([viewer_id])
        return None

    def peek(self, viewer_id: int) -> V | None:
        """The copy, perhaps outdated."""
        copy = self._copies.get(viewer_id)
        return copy[1] if copy is not None else None

    def keep(self, viewer_id: int, validator: bytes | None, value: V) -> None:
        """Stores a value that was loaded after this validator was read. None: it is not stored."""
        if validator is None:
            return
        try:
            self._copies[viewer_id] = (validator, value)
        except OverflowError:  # it weighs more than all may
            self.forget([viewer_id])
            return
        # They may lack this one, which was created just now.
        VIEWER_LOG.forget(viewer_id)

    def forget(self, viewer_ids: Iterable[int]) -> None:
        for viewer_id in viewer_ids:
            self._copies.pop(viewer_id, None)

    def forget_all(self) -> None:
        self._copies.clear()
