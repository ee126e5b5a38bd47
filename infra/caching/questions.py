"""One round trip of reads, made of the questions of several modules.

    trip = RoundTrip()
    live = trip.ask(timeline_store().ask(reader_id))
    trip.run()
    live.value

A module writes the commands of its question and the decoding of their replies in one place.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from redis.exceptions import RedisError

from infra.caching.client import Command, redis

T = TypeVar("T")
U = TypeVar("U")
Q = TypeVar("Q", bound="Question[Any]")
# One per command; None: Redis is away.
Replies = Sequence[Any] | None


class Question(Generic[T]):
    """Commands, and what their replies mean.

    `decode` makes the answer of the replies. It may read a shard for what Redis lacks.
    `has_copies`: a part of the answer comes from process memory.
    """

    __slots__ = ("_answer", "_commands", "_is_decoded", "_replies", "decode", "has_copies")

    def __init__(
        self,
        commands: Sequence[Command],
        decode: Callable[[Replies], T],
        has_copies: bool = False,
    ) -> None:
        self._commands = commands
        self.decode = decode
        self.has_copies = has_copies
        self._is_decoded = False

    def commands(self) -> Sequence[Command]:
        return self._commands

    def receive(self, replies: Replies) -> None:
        """The round trip calls it once."""
        self._replies = replies

    @property
    def is_away(self) -> bool:
        """Whether Redis gave no replies."""
        return self._replies is None

    @property
    def value(self) -> T:
        """The answer, after the round trip. It is decoded at the first use."""
        if not self._is_decoded:
            self._answer = self.decode(self._replies)
            self._is_decoded = True
        return self._answer

    def then(self, change: Callable[[T], U]) -> "Question[U]":
        """The same question, answered by `change` of the answer."""
        return Question(self._commands, lambda replies: change(self.decode(replies)))


class RoundTrip:
    """Questions that share a round trip. `error`: why Redis did not answer."""

    def __init__(self) -> None:
        self._questions: list[Question[Any]] = []
        self.error: RedisError | None = None

    def ask(self, question: Q) -> Q:
        """Adds a question. Its commands run after those of the questions before it."""
        self._questions.append(question)
        return question

    def run(self) -> None:
        """Gets all replies. Cost: one round trip, none if no question has a command."""
        parts = [question.commands() for question in self._questions]
        try:
            replies = redis().run([command for part in parts for command in part])
        except RedisError as error:
            self.error = error
            for question in self._questions:
                question.receive(None)
            return
        start = 0
        for question, part in zip(self._questions, parts, strict=True):
            end = start + len(part)
            question.receive(replies[start:end])
            start = end


def answer(question: Question[T]) -> T:
    """The answer to one question, by a round trip of its own."""
    trip = RoundTrip()
    trip.ask(question)
    trip.run()
    return question.value
