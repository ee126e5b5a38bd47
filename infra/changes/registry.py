"""Kinds of changes and who consumes them.

An app declares its kinds in `changes.py` and consumes others' in `consumers.py`; consumers of a
kind run in the order of INSTALLED_APPS, lowest floor first.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from infra.changes.errors import KindTaken, UnknownKind


class Payload(msgspec.Struct, frozen=True):
    """What a change tells beyond its owner. Subclasses name their `kind`, dotted, past tense.

    `bulk` kinds are drained in a lane of their own so that they delay nobody.
    """

    kind: ClassVar[str]
    bulk: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.kind in _payloads:
            raise KindTaken(f"{cls.kind!r} is {_payloads[cls.kind].__qualname__} already")
        _payloads[cls.kind] = cls


_payloads: dict[str, type[Payload]] = {}
P = TypeVar("P", bound=Payload)


class Delivery(msgspec.Struct, Generic[P], frozen=True):
    """A change on its way to its consumers. `version` grows per database."""

    version: int
    owner_id: int
    created_at: datetime
    payload: P


Consumer = Callable[[str, Sequence[Any]], None]
C = TypeVar("C", bound=Consumer)
_consumers: dict[str, list[Consumer]] = {}
_at_once: dict[str, list[Consumer]] = {}
_in_order: dict[Consumer, None] = {}


def consumes(*kinds: type[Payload], at_once: bool = False) -> Callable[[C], C]:
    """Registers `consumer(alias, deliveries)` for these kinds.

    `alias` is the database whose change table the deliveries come from. A consumer may be handed
    the same delivery twice, or late, or out of order, and must leave the same state.

    With `at_once` it also runs in the acting request, right after the commit, so that the actor
    sees their own act at the next read. That run may fail unnoticed: the drain's counts.
    """

    def register(consumer: C) -> C:
        _in_order[consumer] = None
        for payload in kinds:
            _consumers.setdefault(payload.kind, []).append(consumer)
            if at_once:
                _at_once.setdefault(payload.kind, []).append(consumer)
        return consumer

    return register


def at_once_consumers_of(kind: str) -> list[Consumer]:
    return _at_once.get(kind, [])


def consumers_of(kind: str) -> list[Consumer]:
    return _consumers.get(kind, [])


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
