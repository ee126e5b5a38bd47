"""Evidence: what an answer was made of, so that it can be used again while nothing of it changes.

While an answer is made, each command that is sent to Redis is noted with its reply. An answer that
was made of replies alone has whole evidence: the same replies give the same answer. One that a
shard had a part in, or that wrote something, has none.

This module knows neither Redis nor the shards: their clients call it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from hiredis import pack_command

Command = tuple[Any, ...]


class PackedCommand(Command):
    """A read that confirms an answer, with its bytes on the wire: packing would take as long as all
    else that a client does for it. Equal ones of several requests may be sent once.

    `slot`: of a cluster's slots the one of its key, once it was sent to a cluster.
    """

    packed: bytes
    slot: int | None = None

    @classmethod
    def of(cls, command: Command) -> Self:
        packed = cls(command)
        packed.packed = pack_command(command)
        return packed


class Evidence:
    """The commands and replies of one answer. `began_ms`: the time that it is made for.
    `until_ms`: None without an end. Both in Unix time."""

    __slots__ = ("_began_ms", "commands", "is_whole", "replies", "until_ms")

    def __init__(self, began_ms: int) -> None:
        self._began_ms = began_ms
        self.commands: list[Command] = []
        self.replies: list[Any] = []
        self.is_whole = True
        self.until_ms: int | None = None

    def add(self, commands: Sequence[Command], replies: Sequence[Any]) -> None:
        self.commands += commands
        self.replies += replies

    def end_at(self, at_ms: int) -> None:
        """The answer may be another one from this time on. A time that has passed changes nothing:
        mutes that have ended stay where they are."""
        if at_ms > self._began_ms:
            self.until_ms = at_ms if self.until_ms is None else min(self.until_ms, at_ms)


_current: ContextVar[Evidence | None] = ContextVar("tideline_evidence", default=None)


@contextmanager
def collecting(began_ms: int) -> Iterator[Evidence]:
    """Collects the evidence of the answer that is made in the block, for this time."""
    evidence = Evidence(began_ms)
    token = _current.set(evidence)
    try:
        yield evidence
    finally:
        _current.reset(token)


def note_replies(commands: Sequence[Command], replies: Sequence[Any]) -> None:
    """Redis has replied. Cost: less than 0.1 us if nothing is collected."""
    evidence = _current.get()
    if evidence is not None and evidence.is_whole:
        evidence.add(commands, replies)


def note_other_source() -> None:
    """The answer depends on something that no reply of Redis says, such as a shard."""
    evidence = _current.get()
    if evidence is not None:
        evidence.is_whole = False


def note_end(at_ms: int) -> None:
    """The answer depends on the clock: it may be another one from this Unix time on."""
    evidence = _current.get()
    if evidence is not None:
        evidence.end_at(at_ms)
