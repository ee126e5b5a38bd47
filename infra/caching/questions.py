"""One round trip of reads, made of the questions of several modules.

    trip = RoundTrip()
    live = trip.ask(timeline_store().ask(reader_id))
    trip.run()
    live.value

A module writes the commands of its question and the decoding of their replies in one place.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.confirmations import Rider, confirm_later

K = TypeVar("K")
T = TypeVar("T")
U = TypeVar("U")
Q = TypeVar("Q", bound="Question[Any]")
# One per command, or per key of `ask_keys`; None: Redis is away.
Replies = Sequence[Any] | None


class Question(Generic[T]):
    """Commands, and what their replies mean.

    `decode` makes the answer of the replies. It may read a shard for what Redis lacks. `replies`:
    to the commands, which the round trip sets once; None: Redis gave none.
    """

    __slots__ = ("_answer", "_is_decoded", "commands", "decode", "replies")
    replies: Replies

    def __init__(self, commands: Sequence[Command], decode: Callable[[Replies], T]) -> None:
        self.commands = commands
        self.decode = decode
        self._is_decoded = False
        self.replies = None

    @property
    def value(self) -> T:
        """The answer, after the round trip; without one as while Redis is away. It is decoded at
        the first use."""
        if not self._is_decoded:
            self._answer = self.decode(self.replies)
            self._is_decoded = True
        return self._answer

    def then(self, change: Callable[[T], U]) -> "Question[U]":
        """The same question, answered by `change` of the answer."""
        decode = self.decode
        return Question(self.commands, lambda replies: change(decode(replies)))


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
        commands: list[Command] = []
        for question in self._questions:
            commands += question.commands
        replies: Replies = None
        try:
            replies = redis().run(commands)
        except RedisError as error:
            self.error = error
        end = 0
        for question in self._questions:
            start, end = end, end + len(question.commands)
            question.replies = None if replies is None else replies[start:end]


def answer(question: Question[T]) -> T:
    """The answer to one question, by a round trip of its own."""
    trip = RoundTrip()
    trip.ask(question)
    trip.run()
    return question.value


def ask_along(question: Q) -> Q:
    """Sends the commands with the next round trip of a request that reads, whichever module makes
    it. `answer_of` has the answer.

    What is made in that trip must not depend on the answer: its evidence lacks it.
    """
    confirm_later(Rider(question.commands, partial(setattr, question, "replies"), redis().run))
    return question


def answer_of(question: Question[T]) -> T:
    """The answer to a question of `ask_along`. Cost: a round trip if nothing has sent it."""
    return question.value if question.replies is not None else answer(question)


def answer_by_redis(question: Question[T]) -> T:
    """As `answer`. Raises: RedisError."""
    return question.decode(redis().run(question.commands))


def ask_keys(keys: Sequence[bytes], decode: Callable[[Replies], T]) -> Question[T]:
    """The values of these keys; None for a key that does not exist.

    On a cluster each key has a command of its own: keys of several owners are on several nodes.
    """
    if not keys:
        return Question((), decode)
    if not redis().reads_keys_together:
        return Question([("GET", key) for key in keys], decode)
    return Question([("MGET", *keys)], lambda replies: decode(replies and replies[0]))


def ask_both(first: Question[T], second: Question[U]) -> Question[tuple[T, U]]:
    """Two questions as one. The commands of the second run after those of the first."""
    count, decode_first, decode_second = len(first.commands), first.decode, second.decode

    def decode(replies: Replies) -> tuple[T, U]:
        if replies is None:
            return decode_first(None), decode_second(None)
        return decode_first(replies[:count]), decode_second(replies[count:])

    return Question([*first.commands, *second.commands], decode)


def ask_each(questions: Mapping[K, Question[T]]) -> Question[dict[K, T]]:
    """Many questions as one; their answers by key."""
    parts = [question.commands for question in questions.values()]

    def decode(replies: Replies) -> dict[K, T]:
        asked = zip(questions.items(), _divide(replies, parts), strict=True)
        return {key: question.decode(own) for (key, question), own in asked}

    return Question([command for part in parts for command in part], decode)


def _divide(replies: Replies, parts: Iterable[Sequence[Command]]) -> Iterator[Replies]:
    """The replies to each part of the commands."""
    start = 0
    for part in parts:
        end = start + len(part)
        yield None if replies is None else replies[start:end]
        start = end
