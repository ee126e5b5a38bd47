"""Evidence: what an answer was made of, so that it can be used again while nothing of it changes.

While an answer is made, each command that is sent to Redis is noted with its reply. An answer that
was made of replies alone has whole evidence: the same replies give the same answer. One that a
shard had a part in, or that wrote something, has none.

This module knows neither Redis nor the shards: their clients call it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from hiredis import Reader

# Bytes: the command as it is on the wire. So are reads that confirm an answer: the bytes take a
# third of the memory of their parts, and need not be packed each time. Equal ones of several
# requests may be sent once.
Command = tuple[Any, ...] | bytes


def parts_of(command: Command) -> tuple[Any, ...]:
    """The name, which is text, and what follows it. Cost: some microseconds for a packed one."""
    if not isinstance(command, bytes):
        return command
    reader = Reader()  # a command and a list among replies look the same
    reader.feed(command)
    name, *others = reader.gets()
    return name.decode(), *others


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

    def leave_out_confirmations(self) -> None:
        """For an answer that is used only together with those that were confirmed here."""
        pairs = zip(self.commands, self.replies, strict=True)
        own = [pair for pair in pairs if not isinstance(pair[0], bytes)]
        self.commands, self.replies = [pair[0] for pair in own], [pair[1] for pair in own]

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
