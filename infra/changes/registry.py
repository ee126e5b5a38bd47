"""The kinds of changes and their consumers.

An app declares its kinds in `changes.py` and its consumers in `consumers.py`. The consumers of a
kind run in the order of INSTALLED_APPS, lowest floor first.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from infra.caller_acts import OwnAct
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

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        """What the change moves on other shards, and its owner sees at once."""
        return ()


_payloads: dict[str, type[Payload]] = {}
P = TypeVar("P", bound=Payload)


class Delivery(msgspec.Struct, Generic[P], frozen=True):
    """A change as its consumers get it. `version` grows per database.

    `requests`: the ids of the requests that caused it. `written`: the rows that the write returned,
    for inline consumers, which then need not read them. None: the consumer reads them. `done`:
    names of consumers that need not run for it. `shown`: the count that its own act moves, as the
    owner sees it now; None if it is not known.
    """

    version: int
    owner_id: int
    created_at: datetime
    payload: P
    requests: Sequence[str] = ()
    written: Any = None
    done: frozenset[str] = frozenset()
    shown: int | None = None


class FollowUp(msgspec.Struct, frozen=True):
    """A follow-up change: a consumer returns it for work that needs several steps, or waits.

    It is written in the transaction that files the deliveries of the consumer, so exactly once even
    after a crash. `requests` is filled in from the deliveries of the same owner.
    """

    owner_id: int
    payload: Payload
    requests: Sequence[str] = ()


Consumer = Callable[[str, Sequence[Any]], Sequence[FollowUp] | None]
C = TypeVar("C", bound=Consumer)
_consumers: dict[str, list[Consumer]] = {}
_inline_consumers: dict[str, list[Consumer]] = {}
# What the drain need not run again after the request.
_once: set[Consumer] = set()
# In the order of registration.
_numbers: dict[Consumer, int] = {}


def consumes(*kinds: type[Payload], inline: bool = False, once: bool = False) -> Callable[[C], C]:
    """Registers `consumer(alias, deliveries)` for these kinds.

    `alias` is the database of the changes. A consumer may get the same delivery twice, late, or out
    of order, and must leave the same state. It may return follow-up changes for the same database.

    With `inline` it also runs in the acting request, right after the commit, so that the next read
    of the actor shows the write. It may ask the actor's shard and no other one: no answer waits for
    another shard. An inline run may fail without notice, and its follow-up changes are ignored: the
    drain runs the consumer again. With `once` the drain leaves out what the request has noted as
    done; then the consumer must need nothing that comes later.
    """

    def register(consumer: C) -> C:
        _numbers.setdefault(consumer, len(_numbers))
        for payload in kinds:
            _consumers.setdefault(payload.kind, []).append(consumer)
            if inline:
                _inline_consumers.setdefault(payload.kind, []).append(consumer)
        if once:
            _once.add(consumer)
        return consumer

    return register


def inline_consumers_of(kinds: Iterable[str]) -> list[Consumer]:
    """Those of any of the kinds, each once."""
    consumers = (consumer for kind in kinds for consumer in _inline_consumers.get(kind, ()))
    return sorted(dict.fromkeys(consumers), key=_numbers.__getitem__)


def is_inline_consumer_of(consumer: Consumer, kind: str) -> bool:
    """Whether the acting request runs it for changes of this kind."""
    return consumer in _inline_consumers.get(kind, ())


def runs_once(consumer: Consumer) -> bool:
    """Whether the drain need not run it after the request."""
    return consumer in _once


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
