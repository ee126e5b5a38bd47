"""Tells every process that has copies in its memory what was changed, by Redis pub/sub.

    caching.invalidations:v1:{<number of the database>}   channel; JSON [sender, family, [owners]]

Whoever changes an entry sends the message behind it, in the same round trip; `listener` hears it.
A message that is lost or late leaves a copy to its age. Channels know no numbered databases, so
the number is part of the name.
"""

import itertools
import os
import secrets
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import msgspec
from django.conf import settings
from redis.connection import parse_url

from infra.caching.client import Command
from infra.caching.keys import key

FAMILY = "caching.invalidations:v1"
Owner = int | str


class ProcessCopies(Protocol):
    """Copies of a family in this process's memory. Any thread may call."""

    def forget(self, owners: Sequence[Any]) -> None:
        """These changed: what is held of them, and what is being read now, is not shown again."""
        ...

    def forget_all(self) -> None: ...


class Invalidation(msgspec.Struct, array_like=True, frozen=True):
    """`sender`: a process, by a random name."""

    sender: str
    family: str
    owners: list[Owner]


_copies: defaultdict[str, list[ProcessCopies]] = defaultdict(list)
_sender = [secrets.token_hex(8)]
_decoder = msgspec.json.Decoder(Invalidation)


def register_copies(family: str, copies: ProcessCopies) -> None:
    """Registers what is to forget owners of the family when they change."""
    _copies[family].append(copies)


def invalidation_command(family: str, owners: Sequence[Owner]) -> Command:
    """Tells all processes. Sent with the writes, and after them; see also `forget_here`."""
    return (
        "PUBLISH",
        channel(),
        msgspec.json.encode(Invalidation(_sender[0], family, list(owners))),
    )


def forget_in_process(family: str, owners: Sequence[Owner]) -> None:
    """This process's own copies, at once: who changed something sees the change."""
    for copies in _copies.get(family, ()):
        copies.forget(owners)


def receive_invalidation(message: bytes) -> None:
    """Forgets what another process changed. Raises: msgspec.MsgspecError."""
    change = _decoder.decode(message)
    # What this process changed it has forgotten already, and may have read anew.
    if change.sender != _sender[0]:
        forget_in_process(change.family, change.owners)


def forget_all_copies() -> None:
    """Of all families: messages may have been missed."""
    for copies in itertools.chain.from_iterable(list(_copies.values())):
        copies.forget_all()


@cache
def channel() -> bytes:
    url: dict[str, Any] = parse_url(settings.REDIS_URL)  # type: ignore[no-untyped-call]
    return key(FAMILY, url.get("db", 0))


def _rename_sender() -> None:
    _sender[0] = secrets.token_hex(8)


# A forked process hears what its parent changes.
os.register_at_fork(after_in_child=_rename_sender)
