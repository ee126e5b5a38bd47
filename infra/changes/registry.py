"""The kinds of changes and their consumers.

An app declares its kinds in `changes.py` and its consumers in `consumers.py`. The consumers of a
kind run in the order of INSTALLED_APPS, lowest floor first.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from infra.changes.errors import KindTaken, UnknownKind
from infra.changes.lanes import LaneGroup


class Payload(msgspec.Struct, frozen=True):
    """The content of a change besides its owner. A subclass sets `kind`, in the past tense.

    `lanes`: big changes have their own lanes, so that they do not delay others. `is_follow_up`:
    only consumers return this kind. Replays leave it out, because its cause is replayed.
    """

    kind: ClassVar[str]
    lanes: ClassVar[LaneGroup] = LaneGroup.ORDINARY
    is_follow_up: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.kind in _payloads:
            raise KindTaken(f"{cls.kind!r} is {_payloads[cls.kind].__qualname__} already")
        _payloads[cls.kind] = cls


_payloads: dict[str, type[Payload]] = {}
P = TypeVar("P", bound=Payload)


class Delivery(msgspec.Struct, Generic[P], frozen=True):
    """A change as its consumers get it. `version` grows per database.

    `requests`: the ids of the requests that caused it. `written`: the rows that the write returned,
    for inline consumers, which then need not read them. None: the consumer reads them. `done`:
    names of consumers that need not run for it.
    """

    version: int
    owner_id: int
    created_at: datetime
    payload: P
    requests: Sequence[str] = ()
    written: Any = None
    done: frozenset[str] = frozenset()


class FollowUp(msgspec.Struct, frozen=True):
    """A follow-up change: a consumer returns it for work that needs several steps, or waits.

    It is written in the transaction that files the deliveries of the consumer, so exactly once even
    after a crash. `requests` is filled in from the deliveries of the same owner.
    """

    owner_id: int
    payload: Payload
    requests: Sequence[str] = ()


Consumer = Callable[[str, Sequence[Any]], Sequence[FollowUp] | None]
# Returns the versions of the changes that it left to the drain.
Attempt = Callable[[str, Sequence[Any]], Collection[int] | None]
HasWork = Callable[[Any], bool]
C = TypeVar("C", bound=Consumer)
A = TypeVar("A", bound=Attempt)
_consumers: dict[str, list[Consumer]] = {}
_inline_consumers: dict[str, list[Consumer]] = {}
# With whether each has work for a payload.
_attempts: dict[str, list[tuple[Attempt, HasWork]]] = {}
# Inline consumers that run after the attempts.
_last_consumers: dict[str, list[Consumer]] = {}
# What the drain need not run after an inline consumer or an attempt.
_spared: dict[Consumer | Attempt, Consumer] = {}
# What must have run before a consumer.
_needed: dict[Consumer, Consumer] = {}
# In the order of registration.
_numbers: dict[Consumer, int] = {}


def consumes(
    *kinds: type[Payload],
    inline: bool = False,
    once: bool = False,
    after: Consumer | None = None,
) -> Callable[[C], C]:
    """Registers `consumer(alias, deliveries)` for these kinds.

    `alias` is the database of the changes. A consumer may get the same delivery twice, late, or out
    of order, and must leave the same state. It may return follow-up changes for the same database.

    With `inline` it also runs in the acting request, right after the commit, so that the next read
    of the actor shows the write. An inline run may fail without notice, and its follow-up changes
    are ignored: the drain runs the consumer again. With `once` the drain leaves out what the
    request has noted as done; then the consumer must need nothing that comes later. With `after` it
    needs what this consumer of the same kinds does: the request runs it after the attempts, and the
    drain leaves it out only together with that consumer.
    """
    of_request = _inline_consumers if after is None else _last_consumers

    def register(consumer: C) -> C:
        _numbers.setdefault(consumer, len(_numbers))
        for payload in kinds:
            _consumers.setdefault(payload.kind, []).append(consumer)
            if inline:
                of_request.setdefault(payload.kind, []).append(consumer)
        if once:
            _spared[consumer] = consumer
        if after is not None:
            _needed[consumer] = after
        return consumer

    return register


def attempts(
    *kinds: type[Payload], spares: Consumer | None = None, has_work: HasWork = lambda _: True
) -> Callable[[A], A]:
    """Registers `attempt(alias, deliveries)` for these kinds: early work of a consumer.

    It runs in the acting request, after the inline consumers, and may give way by an error of
    UNREACHABLE. The drain does not run it. `spares`: the consumer that does the same work in the
    drain, and that need not run after the attempt, but for what the attempt has left.
    `has_work`: whether there is something to do for a payload.
    """

    def register(attempt: A) -> A:
        for payload in kinds:
            _attempts.setdefault(payload.kind, []).append((attempt, has_work))
        if spares is not None:
            _spared[attempt] = spares
        return attempt

    return register


def inline_consumers_of(kinds: Collection[str]) -> list[Consumer]:
    """What the acting request runs right after the commit, each once; not those with `after`."""
    inline = {consumer for kind in kinds for consumer in _inline_consumers.get(kind, ())}
    return sorted(inline, key=_numbers.__getitem__)


def attempts_of(payloads: Iterable[Payload]) -> list[Consumer | Attempt]:
    """The attempts that have something to do for one of these, and then the inline consumers with
    `after`; each once."""
    changes = list(payloads)
    attempts: list[Consumer | Attempt] = [
        attempt
        for payload in changes
        for attempt, has_work in _attempts.get(payload.kind, ())
        if has_work(payload)
    ]
    last = chain.from_iterable(_last_consumers.get(payload.kind, ()) for payload in changes)
    return list(dict.fromkeys([*attempts, *last]))


def is_inline_consumer_of(consumer: Consumer | Attempt, kind: str) -> bool:
    """Whether the acting request runs it for changes of this kind."""
    inline = (*_inline_consumers.get(kind, ()), *_last_consumers.get(kind, ()))
    return consumer in inline or any(consumer is attempt for attempt, _ in _attempts.get(kind, ()))


def spared_by(consumer: Consumer | Attempt) -> Consumer | None:
    """The consumer that the drain need not run after this one has run in the request."""
    return _spared.get(consumer)


def needed_by(consumer: Consumer) -> Consumer | None:
    """The consumer that must have run before this one."""
    return _needed.get(consumer)


def name_of(consumer: Consumer) -> str:
    """The same in all processes of a release."""
    return f"{consumer.__module__}.{consumer.__qualname__}"


def consumers_of(kind: str) -> list[Consumer]:
    return _consumers.get(kind, [])


def kinds() -> frozenset[str]:
    """All kinds that the installed apps emit."""
    return frozenset(_payloads)


def follow_up_kinds() -> list[str]:
    return [kind for kind, payload in _payloads.items() if payload.is_follow_up]


def registered_consumers() -> list[Consumer]:
    """Every consumer once, in registration order."""
    return list(_numbers)


def read_payload(kind: str, text: str) -> Payload:
    """The typed payload. Raises: UnknownKind; msgspec.ValidationError for another shape."""
    try:
        shape = _payloads[kind]
    except KeyError:
        raise UnknownKind(f"no installed app knows {kind!r}") from None
    return msgspec.json.decode(text, type=shape)
