"""Kinds of changes and who consumes them.

An app declares its kinds in `changes.py` and consumes others' in `consumers.py`; consumers of a
kind run in the order of INSTALLED_APPS, lowest floor first.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from infra.changes.errors import KindTaken, UnknownKind
from infra.changes.lanes import LaneGroup


class Payload(msgspec.Struct, frozen=True):
    """What a change tells beyond its owner. Subclasses name their `kind`, dotted, past tense.

    `lanes`: big ones are drained apart and delay no others. `is_follow_up`: only consumers ask
    for it; replays leave it out, since what brought it about brings it about again.
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
    """A change on its way to its consumers. `version` grows per database. `requests`: those that
    caused it."""

    version: int
    owner_id: int
    created_at: datetime
    payload: P
    requests: Sequence[str] = ()


class FollowUp(msgspec.Struct, frozen=True):
    """A change that a consumer asks for: work to be done in pieces, or by itself later.

    It is written in the transaction that files what the consumer was handed: once, whatever is
    killed wherever. `requests` is filled in for the consumer, from its owner's deliveries.
    """

    owner_id: int
    payload: Payload
    requests: Sequence[str] = ()


Consumer = Callable[[str, Sequence[Any]], Sequence[FollowUp] | None]
C = TypeVar("C", bound=Consumer)
_consumers: dict[str, list[Consumer]] = {}
_inline_consumers: dict[str, list[Consumer]] = {}
_in_order: dict[Consumer, None] = {}


def consumes(*kinds: type[Payload], inline: bool = False) -> Callable[[C], C]:
    """Registers `consumer(alias, deliveries)` for these kinds.

    `alias` is the database whose change table the deliveries come from. A consumer may be handed
    the same delivery twice, or late, or out of order, and must leave the same state. Changes that
    it returns are changes of the same database.

    With `inline` it also runs in the acting request, right after the commit, so that the actor
    sees their own act at the next read. That run may fail unnoticed, and its
    follow_ups are dropped: the drain's counts.
    """

    def register(consumer: C) -> C:
        _in_order[consumer] = None
        for payload in kinds:
            _consumers.setdefault(payload.kind, []).append(consumer)
            if inline:
                _inline_consumers.setdefault(payload.kind, []).append(consumer)
        return consumer

    return register


def inline_consumers_of(kind: str) -> list[Consumer]:
    return _inline_consumers.get(kind, [])


def consumers_of(kind: str) -> list[Consumer]:
    return _consumers.get(kind, [])


def kinds() -> frozenset[str]:
    """All that the installed apps emit."""
    return frozenset(_payloads)


def follow_up_kinds() -> list[str]:
    return [kind for kind, payload in _payloads.items() if payload.is_follow_up]


def registered_consumers() -> list[Consumer]:
    """Every consumer once, in registration order, whichever kinds they share."""
    return list(_in_order)


def read_payload(kind: str, text: str) -> Payload:
    """The typed payload. Raises UnknownKind, or msgspec.ValidationError for a foreign shape."""
    try:
        shape = _payloads[kind]
    except KeyError:
        raise UnknownKind(f"no installed app knows {kind!r}") from None
    return msgspec.json.decode(text, type=shape)
