"""Values of markers."""

from datetime import datetime
from enum import IntEnum
from typing import NamedTuple


class Timeline(IntEnum):
    """The timelines that have markers. Stored as a number; the API has the name in lower case."""

    HOME = 0
    NOTIFICATIONS = 1


class MarkerState(NamedTuple):
    """How far one timeline was read. `version`: grows with every write.

    `seen_ms`: as of the row.
    """

    last_read_id: str
    version: int
    updated_at: datetime
    seen_ms: int | None = None


class MarkerMove(NamedTuple):
    """A request to move a marker. `version`: the one to write; None: the next one.

    `forward_only`: a marker that is further already stays.
    """

    last_read_id: str
    version: int | None = None
    forward_only: bool = False
