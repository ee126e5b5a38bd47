"""Remembered answers: used again in this process while Redis gives the replies they were made of.

Before an answer is used again, one round trip asks for the same things, more cheaply where there is
a way: the version of a hash instead of its fields. If all replies are the same, so is the answer.
Nothing else keeps it right: no message from other processes, and no age. So it is as current as an
answer that is made again.

What depends on a shard, or writes something, is not remembered. Nor are answers of a time when
Redis did not answer. An answer is remembered when a process makes it again soon: with many
processes most answers are never asked for again, and to note what confirms them is not free. Soon
means: after no more bytes of other answers than the memory can hold. All kinds of answers share
one memory, so those that are asked for again have all of it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from cachebox import LRUCache
from hiredis import pack_command
from xxhash import xxh3_128_digest

from infra.caching.metrics import count_reads
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, Replies, answer
from infra.caching.server_identity import on_other_server
from infra.caching.short_lived import ShortLived
from infra.evidence import Command, Evidence, collecting

T = TypeVar("T")
# Of a command and its reply: another command, and the part of the reply that it would give.
Cheaper = Callable[[Command, Any], tuple[Command, Any]]
# Reads: to send them again changes nothing but times to live.
_READS = frozenset(
    ("EXISTS", "GET", "GETEX", "HGET", "HMGET", "MGET", "ZRANGEBYSCORE", "ZRANGE", "STRLEN")
)
VERSION_FIELD = "!"
# How long old texts may stay in memory. No answer is right because of it.
REMEMBERED_MS = 60_000
# Bytes of memory: what Python and the tables add to an answer and its key, and to a command.
AN_ANSWER, A_COMMAND = 350, 41
_encode = msgspec.msgpack.encode
# By the checksum of a script.
_cheaper_scripts: dict[str, Cheaper] = {}


def confirm_script_by(sha: str, cheaper: Cheaper) -> None:
    """Calls of this script are reads, and `cheaper` says how to ask whether one gives the same."""
    _cheaper_scripts[sha] = cheaper


class Remembered(NamedTuple, Generic[T]):
    """`question`: the packed commands that confirm the value. `digest`: of their replies.
    `weight`: bytes of all."""

    question: Sequence[bytes]
    digest: bytes
    until_ms: int | None
    value: T
    weight: int


class Room:
    """The memory that all answers share: `most` bytes, each answer for `ttl_ms`."""

    def __init__(self, most: int, ttl_ms: int = REMEMBERED_MS) -> None:
        self.most = most
        self.answers: ShortLived[Hashable, Remembered[Any]] = ShortLived(
            most, ttl_ms, lambda answer: answer.weight
        )
        # By the hash of a key that was answered lately, the weight of its answer. Two keys with one
        # hash do no harm.
        self.answered: LRUCache[int, int] = LRUCache(most, getsizeof=lambda _, weight: weight)

    def forget_all(self) -> None:
        self.answers.clear()
        self.answered.clear()


_ROOM = Room(most_entries("infra.answers", share=0.78, bytes_each=1))


class Memory(Generic[T]):
    """The answers of one family. `weigh`: the bytes of an answer; what confirms it is added."""

    def __init__(self, family: str, weigh: Callable[[T], int], room: Room = _ROOM) -> None:
        self._family, self._weigh, self._room = family, weigh, room

    def peek(self, key: Hashable, now_ms: int) -> T | None:
        """The remembered answer, perhaps outdated: a guess that `ask` confirms."""
        known = self._find(key, now_ms)
        return known.value if known is not None else None

    def ask(self, key: Hashable, now_ms: int) -> Question[T | None]:
        """The remembered answer if it is confirmed. None: `make` another one."""
        known = self._find(key, now_ms)
        if known is None:
            count_reads(self._family, "process", 0, 1)
            return Question((), lambda _: None)
        return Question(known.question, partial(self._confirm, known))

    def make(self, key: Hashable, now_ms: int, make: Callable[[], T]) -> T:
        """A new answer. It is remembered if that is possible, and if the key was answered lately.
        Raises what `make` raises."""
        room, own_key = self._room, (self._family, key)
        hashed = hash(own_key)
        if hashed not in room.answered and own_key not in room.answers:
            value = make()
        else:
            with collecting(now_ms) as evidence:
                value = make()
            self.keep(key, now_ms, evidence, value)
        room.answered[hashed] = min(room.most, AN_ANSWER + self._weigh(value))
        return value

    def find_or_make(self, key: Hashable, now_ms: int, make: Callable[[], T]) -> T:
        """The remembered answer if one round trip confirms it, else a new one."""
        asked = self.ask(key, now_ms)
        known = answer(asked) if asked.commands else None
        return known if known is not None else self.make(key, now_ms, make)

    def keep(self, key: Hashable, now_ms: int, evidence: Evidence, value: T) -> None:
        """Remembers an answer that was made, if its evidence is whole and has only reads."""
        answers, own_key = self._room.answers, (self._family, key)
        asked = _confirmation_of(evidence) if evidence.is_whole else None
        if not asked:
            answers.drop(own_key)
            return
        asked_size = sum(map(len, asked)) + A_COMMAND * len(asked)
        weight = AN_ANSWER + _weigh_key(key) + asked_size + self._weigh(value)
        digest = _digest([*asked.values()])
        remembered = Remembered((*asked,), digest, evidence.until_ms, value, weight)
        answers.put(own_key, remembered, now_ms)

    def _find(self, key: Hashable, now_ms: int) -> Remembered[T] | None:
        known = self._room.answers.get((self._family, key), now_ms)
        has_ended = known is not None and known.until_ms is not None and now_ms >= known.until_ms
        return None if has_ended else known

    def _confirm(self, known: Remembered[T], replies: Replies) -> T | None:
        # What is made without Redis comes from the shards.
        is_same = replies is not None and _digest(replies) == known.digest
        count_reads(self._family, "process", int(is_same), int(not is_same))
        return known.value if is_same else None


def _weigh_key(key: Hashable) -> int:
    """Its texts may be long: a path, a query."""
    return sum(map(getsizeof, key)) if isinstance(key, tuple) else getsizeof(key)


def forget_answers() -> None:
    """Empties the memory of this process."""
    _ROOM.forget_all()


on_other_server(forget_answers)


def _digest(replies: Sequence[Any]) -> bytes:
    return xxh3_128_digest(_encode(replies))


def _confirmation_of(evidence: Evidence) -> Mapping[bytes, Any] | None:
    """The commands that ask for the same, each once, with their replies. None: one is no read, or
    two replies to one command differ."""
    asked: dict[bytes, Any] = {}
    for command, reply in zip(evidence.commands, evidence.replies, strict=True):
        pair = _cheapest(command, reply)
        if pair is None:
            return None
        packed = pair[0] if isinstance(pair[0], bytes) else pack_command(pair[0])
        if asked.setdefault(packed, pair[1]) != pair[1]:
            return None
    return asked


def _cheapest(command: Command, reply: Any) -> tuple[Command, Any] | None:
    if isinstance(command, bytes):
        return command, reply
    name = command[0]
    if name in _READS:
        if name == "HMGET" and command[2] == VERSION_FIELD:
            return ("HGET", command[1], VERSION_FIELD), reply[0]
        return command, reply
    if name == "SET" and "NX" in command and reply is None:
        return ("EXISTS", command[1]), 1
    cheaper = _cheaper_scripts.get(command[1]) if name == "EVALSHA" else None
    return cheaper(command, reply) if cheaper is not None else None
