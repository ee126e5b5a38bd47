"""Values of moves."""

from collections.abc import Iterator
from typing import NamedTuple, Self

from django.conf import settings
from django.db import models

from infra.sharding.buckets import BucketSet

# What a step says, and the numbers of rows that it has done.
Lines = Iterator[str | int]


class MoveRoute(models.TextChoices):
    """What a move is doing. Each is an order of steps (route.py)."""

    MOVE = "move"
    UNDO = "undo"
    ABORT = "abort"
    COMPLETE = "complete"


def stream_name(move: int, is_back: bool = False) -> str:
    """Slots are of the whole server, which tenants share."""
    tenant = f"{settings.TENANT}_" if settings.TENANT else ""
    return f"tideline_move_{tenant}{move}{'_back' if is_back else ''}"


class MoveRef(NamedTuple):
    """A move as one process works on it, with the token by which the databases know it.

    `stream`: the name of publication, slot and subscription from the source to the target.
    """

    id: int
    token: int
    source: str
    target: str
    buckets: BucketSet
    is_back: bool = False

    @property
    def stream(self) -> str:
        return stream_name(self.id, self.is_back)

    def back(self) -> Self:
        """The same in the other direction."""
        return self._replace(source=self.target, target=self.source, is_back=not self.is_back)
