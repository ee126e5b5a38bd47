"""Invalidation of copies in process memory: every process learns what changed, by Redis pub/sub.

    caching.invalidations:v1:{<database number>}   channel; JSON [sender, family, [owners]]

The writer of an entry publishes the invalidation after the entry, in the same round trip. Every
process with copies receives it (listener). If a message is lost or late, the age limit of a copy
ends it. Redis channels are shared by all numbered databases, so the name contains the number.
"""

import itertools
import os
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from django.conf import settings
from redis.connection import parse_url

from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.server_identity import on_other_server

K = TypeVar("K")

FAMILY = "caching.invalidations:v1"
MOST_REMEMBERED = 10_000
Owner = int | str


class ProcessCopies(Protocol):
    """Copies of one family in this process's memory. Any thread may call."""

    def forget(self, owners: Sequence[Any]) -> None:
        """Drops the copies of these owners, and those that a read in progress would store."""
        ...

    def forget_all(self) -> None: ...


class Invalidation(msgspec.Struct, array_like=True, frozen=True):
    """`sender`: the random name of the process that changed the entries."""

    sender: str
    family: str
    owners: list[Owner]


class InvalidationTimes(Generic[K]):
    """When each key was invalidated last, by the clock of its readers.

    Not thread-safe: the owner of the copies calls `may_store` and stores under one lock. Otherwise
    a copy could be stored between the check and an invalidation. Memory: at most MOST_REMEMBERED
    keys; then all are forgotten, and no value that was read before that may be stored.
    """

    def __init__(self) -> None:
        self._at: dict[K, float] = {}
        self._all_at = float("-inf")

    def add(self, keys: Iterable[K], now: float) -> None:
        self._at.update(dict.fromkeys(keys, now))
        if len(self._at) > MOST_REMEMBERED:
            self.add_all(now)

    def add_all(self, now: float) -> None:
        self._all_at = now
        self._at.clear()

    def may_store(self, key: K, asked_at: float) -> bool:
        """Whether no invalidation came after the read that began at `asked_at`."""
        return asked_at > self._all_at and asked_at > self._at.get(key, self._all_at)


_copies: defaultdict[str, list[ProcessCopies]] = defaultdict(list)
_sender = [secrets.token_hex(8)]
_decoder = msgspec.json.Decoder(Invalidation)


def register_copies(family: str, copies: ProcessCopies) -> None:
    """Invalidations of the family reach these copies from now on."""
    _copies[family].append(copies)


def invalidation_command(family: str, owners: Sequence[Owner]) -> Command:
    """Tells all other processes. Send it together with the writes, after them."""
    message = Invalidation(_sender[0], family, list(owners))
    return ("PUBLISH", channel(), msgspec.json.encode(message))


def forget_in_process(family: str, owners: Sequence[Owner]) -> None:
    """Drops this process's own copies at once, so that the writer sees its change."""
    for copies in _copies.get(family, ()):
        copies.forget(owners)


def receive_invalidation(message: bytes) -> None:
    """Drops the copies that another process invalidated. Raises: msgspec.MsgspecError."""
    change = _decoder.decode(message)
    # This process dropped its own changes before it sent them, and may have read them again.
    if change.sender != _sender[0]:
        forget_in_process(change.family, change.owners)


def forget_family(family: str) -> None:
    """Drops all copies of one family in this process."""
    for copies in _copies.get(family, ()):
        copies.forget_all()


def forget_all_copies() -> None:
    """Drops the copies of all families, because messages may have been missed."""
    for copies in itertools.chain.from_iterable(list(_copies.values())):
        copies.forget_all()


@cache
def channel() -> bytes:
    url: dict[str, Any] = parse_url(settings.REDIS_URL)  # type: ignore[no-untyped-call]
    return key(FAMILY, url.get("db", 0))


def _rename_sender() -> None:
    _sender[0] = secrets.token_hex(8)


on_other_server(forget_all_copies)
# A forked process must receive what its parent changes.
os.register_at_fork(after_in_child=_rename_sender)
