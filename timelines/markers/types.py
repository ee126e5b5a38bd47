"""Values of markers."""

from datetime import datetime
from enum import IntEnum
from typing import NamedTuple


class Timeline(IntEnum):
    """What can be marked. Stored as a number; the API says the name in lower case."""

    HOME = 0
    NOTIFICATIONS = 1


class MarkerState(NamedTuple):
    """How far one timeline has been read. `version`: how often that was written, at least."""

    last_read_id: str
    version: int
    updated_at: datetime


class MarkerMove(NamedTuple):
    """A wish to move a marker. `version`: the one to be written; None: the next there is."""

    last_read_id: str
    version: int | None = None
