"""The validators of a viewer: whether what a process knows about the viewer is still valid.

    caching.viewer:v1:{viewer}   hash; field → random bytes
        r   relationships with other accounts
        f   the following list

A value that was loaded after a read of its field is valid in process memory while the field is the
same. A change drops or replaces its field after the caches were changed. A missing field says that
nothing is known: the value is read again.
"""

import secrets
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from cachebox import LRUCache

from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.caching.server_identity import on_other_server

V = TypeVar("V")

FAMILY = "caching.viewer:v1"
VALIDATOR_BYTES = 8
TTL_MS = 86_400_000


class ViewerField(bytes, Enum):
    """One validator of a viewer."""

    RELATIONSHIPS = b"r"
    FOLLOWING = b"f"


# Plain bytes for the hot path: reading a member of an enumeration is slow.
_FIELDS = tuple(field.value for field in ViewerField)


class ViewerValidators(NamedTuple):
    """The validators as Redis has them; None: missing, or without Redis."""

    relationships: bytes | None = None
    following: bytes | None = None


NO_VALIDATORS = ViewerValidators()


def viewer_key(viewer_id: int) -> bytes:
    return key(FAMILY, viewer_id)


def make_validator() -> bytes:
    return secrets.token_bytes(VALIDATOR_BYTES)


class ValidatorsQuestion(Question[ViewerValidators]):
    """The viewer's validators. Ask it before the values that they are for. Cost: one command."""

    __slots__ = ("_name",)

    def __init__(self, viewer_id: int) -> None:
        self._name = viewer_key(viewer_id)
        super().__init__([("HMGET", self._name, *_FIELDS)], _decode_validators)

    def create(self, *fields: ViewerField) -> None:
        """Adds these fields if they are missing, for values of which this process has no copy.

        The relationship cache adds its own.
        """
        created = [("HSETNX", self._name, field.value, make_validator()) for field in fields]
        self.commands = [*created, ("PEXPIRE", self._name, TTL_MS), *self.commands]


def _decode_validators(replies: Replies) -> ViewerValidators:
    return ViewerValidators(*replies[-1]) if replies else NO_VALIDATORS


def drop_validator_commands(viewer_ids: Iterable[int], field: ViewerField) -> list[Command]:
    """Ends copies of the viewers' values in all processes.

    Send them in a round trip of their own, after the one that changes the caches: a script that
    Redis does not know runs after the other commands of its round trip.
    """
    return [("HDEL", viewer_key(viewer), field.value) for viewer in viewer_ids]


class ViewerCopies(Generic[V]):
    """Values in process memory, one a viewer, each with the validator that it was loaded under.

    At most `most` values; with `weigh`, values that weigh so much together. One that weighs more is
    not kept.
    """

    def __init__(self, most: int, weigh: Callable[[V], int] | None = None) -> None:
        weigh_copy = None if weigh is None else lambda _, copy: weigh(copy[1])
        self._copies: LRUCache[int, tuple[bytes, V]] = LRUCache(most, getsizeof=weigh_copy)
        on_other_server(self.forget_all)

    def has(self, viewer_id: int) -> bool:
        """Whether there is a copy, valid or not."""
        return viewer_id in self._copies

    def find(self, viewer_id: int, validator: bytes | None) -> V | None:
        """The copy, if it was loaded under this validator. Another copy is dropped."""
        copy = self._copies.get(viewer_id)
        if copy is not None and copy[0] == validator:
            return copy[1]
        self.forget([viewer_id])
        return None

    def peek(self, viewer_id: int) -> V | None:
        """The copy, perhaps outdated."""
        copy = self._copies.get(viewer_id)
        return copy[1] if copy is not None else None

    def keep(self, viewer_id: int, validator: bytes | None, value: V) -> None:
        """Stores a value that was loaded after this validator was read. None: it is not stored."""
        if validator is None:
            return
        try:
            self._copies[viewer_id] = (validator, value)
        except OverflowError:  # it weighs more than all may
            self.forget([viewer_id])
            return

    def forget(self, viewer_ids: Iterable[int]) -> None:
        for viewer_id in viewer_ids:
            self._copies.pop(viewer_id, None)

    def forget_all(self) -> None:
        self._copies.clear()
