"""Values of brought lists."""

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple


class BroughtKind(IntEnum):
    """What the lines of a file are. Stored as a number."""

    FOLLOWS = 0
    BLOCKS = 1
    MUTES = 2
    BOOKMARKS = 3
    LISTS = 4


class LineState(IntEnum):
    """Stored as a number."""

    PENDING = 0
    DONE = 1
    REFUSED = 2


class BroughtLine(NamedTuple):
    """A line of the file. `number`: from 1. `reason`: why it was refused, else empty."""

    number: int
    cells: Sequence[str]
    state: LineState
    reason: str


class BroughtProgress(NamedTuple):
    """How far a file is. `goes_on_at`: when the next lines are done."""

    kind: BroughtKind
    lines: int
    done: int
    refused: int
    started_at: datetime
    finished_at: datetime | None
    goes_on_at: datetime

    @property
    def pending(self) -> int:
        return self.lines - self.done - self.refused
