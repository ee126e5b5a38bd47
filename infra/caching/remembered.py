"""Remembered answers: used again in this process while Redis gives the replies they were made of.

Before an answer is used again, one round trip asks for the same things, more cheaply where there is
a way: the version of a hash instead of its fields. If all replies are the same, so is the answer.
Nothing else keeps it right: no message from other processes, and no age. So it is as current as an
answer that is made again.

What depends on a shard, or writes something, is not remembered. Nor are answers of a time when
Redis did not answer. An answer is remembered when a process makes it again soon: with many
processes most answers are never asked for again, and to note what confirms them is not free. Soon
means: after no more other answers than the memory can hold.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from cachebox import LRUCache
from xxhash import xxh3_128_digest

from infra.caching.metrics import count_reads
from infra.caching.questions import Question, Replies, answer
from infra.caching.server_identity import on_other_server
from infra.caching.short_lived import ShortLived
from infra.evidence import Command, Evidence, PackedCommand, collecting

T = TypeVar("T")
# Of a command and its reply: another command, and the part of the reply that it would give.
Cheaper = Callable[[Command, Any], tuple[Command, Any]]
# Reads: to send them again changes nothing but times to live.
_READS = frozenset(
    ("EXISTS", "GET", "GETEX", "HGET", "HMGET", "MGET", "ZRANGEBYSCORE", "ZRANGE", "STRLEN")
)
VERSION_FIELD = "!"
# Bytes of memory.
AN_ANSWER, A_PART = 1_000, 100
_encode = msgspec.msgpack.encode
# By the checksum of a script.
_cheaper_scripts: dict[str, Cheaper] = {}
_memories: list["Memory[Any]"] = []


def confirm_script_by(sha: str, cheaper: Cheaper) -> None:
    """Calls of this script are reads, and `cheaper` says how to ask whether one gives the same."""
    _cheaper_scripts[sha] = cheaper


class Remembered(NamedTuple, Generic[T]):
    """`question`: the commands that confirm the value. `digest`: of their replies."""

    question: Sequence[Command]
    digest: bytes
    until_ms: int | None
    value: T


class Memory(Generic[T]):
    """The answers of one family in process memory: `most` bytes together, each for `ttl_ms`.

    `usual`: about the bytes of an answer with what confirms it. `weigh`: the bytes of an answer;
    what confirms it is added.
    """

    def __init__(
        self,
        family: str,
        most: int,
        ttl_ms: int,
        usual: int,
        weigh: Callable[[T], int] = lambda _: 0,
    ) -> None:
        self._family = family
        # Hashes of the keys that were answered lately. Two keys with one hash do no harm.
        self._answered: LRUCache[int, bool] = LRUCache(max(1, most // usual))
        self._answers: ShortLived[Hashable, Remembered[T]] = ShortLived(
            most, ttl_ms, lambda answer: weigh(answer.value) + _weigh_question(answer.question)
        )
        _memories.append(self)

    def peek(self, key: Hashable, now_ms: int) -> T | None:
        """The remembered answer, perhaps outdated: a guess that `ask` confirms."""
        known = self._answers.get(key, now_ms)
        return known.value if known is not None else None

    def ask(self, key: Hashable, now_ms: int) -> Question[T | None]:
        """The remembered answer if it is confirmed. None: `make` another one."""
        known = self._answers.get(key, now_ms)
        if known is None or (known.until_ms is not None and now_ms >= known.until_ms):
            count_reads(self._family, "process", 0, 1)
            return Question((), lambda _: None)
        return Question(known.question, partial(self._confirm, known))

    def make(self, key: Hashable, now_ms: int, make: Callable[[], T]) -> T:
        """A new answer. It is remembered if that is possible, and if the key was answered lately.
        Raises what `make` raises."""
        if self._is_first(key):
            return make()
        with collecting(now_ms) as evidence:
            value = make()
        self._keep(key, now_ms, evidence, value)
        return value

    def find_or_make(self, key: Hashable, now_ms: int, make: Callable[[], T]) -> T:
        """The remembered answer if one round trip confirms it, else a new one."""
        known = None
        if key in self._answers:
            known = answer(self.ask(key, now_ms))
        else:
            count_reads(self._family, "process", 0, 1)
        return known if known is not None else self.make(key, now_ms, make)

    def _is_first(self, key: Hashable) -> bool:
        hashed = hash(key)
        is_first = key not in self._answers and self._answered.get(hashed, True)
        self._answered[hashed] = False
        return is_first

    def _confirm(self, known: Remembered[T], replies: Replies) -> T | None:
        # What is made without Redis comes from the shards.
        is_same = replies is not None and _digest(replies) == known.digest
        count_reads(self._family, "process", int(is_same), int(not is_same))
        return known.value if is_same else None

    def forget_all(self) -> None:
        self._answers.clear()
        self._answered.clear()

    def _keep(self, key: Hashable, now_ms: int, evidence: Evidence, value: T) -> None:
        confirmation = _confirmation_of(evidence) if evidence.is_whole else None
        if confirmation is None:
            self._answers.drop(key)
            return
        question, replies = confirmation
        remembered = Remembered(question, _digest(replies), evidence.until_ms, value)
        self._answers.put(key, remembered, now_ms)


def _weigh_question(question: Sequence[Command]) -> int:
    """Bytes, with what Python adds: about so many for each part of a command."""
    return AN_ANSWER + A_PART * sum(map(len, question))


def forget_answers() -> None:
    """Empties the memories of this process."""
    for memory in _memories:
        memory.forget_all()


on_other_server(forget_answers)


def _digest(replies: Sequence[Any]) -> bytes:
    return xxh3_128_digest(_encode(replies))


def _confirmation_of(evidence: Evidence) -> tuple[list[Command], list[Any]] | None:
    """The commands that ask for the same, and their replies. None: one is no read, or there are
    none at all."""
    question, replies = list[Command](), list[Any]()
    for command, reply in zip(evidence.commands, evidence.replies, strict=True):
        pair = _cheapest(command, reply)
        if pair is None:
            return None
        question.append(PackedCommand.of(pair[0]))
        replies.append(pair[1])
    return (question, replies) if question else None


def _cheapest(command: Command, reply: Any) -> tuple[Command, Any] | None:
    name = command[0]
    if name in _READS:
        if name == "HMGET" and command[2] == VERSION_FIELD:
            return ("HGET", command[1], VERSION_FIELD), reply[0]
        return command, reply
    if name == "SET" and "NX" in command and reply is None:
        return ("EXISTS", command[1]), 1
    cheaper = _cheaper_scripts.get(command[1]) if name == "EVALSHA" else None
    return cheaper(command, reply) if cheaper is not None else None
