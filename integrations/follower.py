"""Follows the change feed, and keeps its position in a file.

A position in the change feed that a file keeps from run to run.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from redis import RedisError

from infra.sharding.errors import NO_ANSWER
from integrations.positions import decode_position, encode_position
from integrations.queries.events import read_events
from integrations.sinks import EventSink
from integrations.types import SitePosition


def find_position(path: Path) -> SitePosition | None:
    """None: there is no file yet. Raises: OSError, PositionInvalid."""
    try:
        return decode_position(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return decode_position("?")


def keep_position(path: Path, position: SitePosition) -> None:
    """Replaces the file as a whole: after a crash it has this position or the one before.

    Raises: OSError.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="ascii") as file:
        file.write(encode_position(position))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


PAGE: Final = 500
QUIET_S, AWAY_S = 0.25, 1.0
# A file of a quiet site is written so often, so that its position does not become too old.
KEEP_EVERY_S = 60


class EventFollower:
    """Writes to the sink first and keeps the position then: killed in between, it writes again."""

    def __init__(
        self, after: SitePosition, sink: EventSink, file: Path | None, say: Callable[[str], object]
    ) -> None:
        self._after, self._sink, self._file, self._say = after, sink, file, say
        self._kept_at, self._trouble = float("-inf"), ""

    def step(self) -> float | None:
        """Writes the next events; returns how long to wait for more, or None if something is away.

        Raises: PositionTooOld, PositionLost; OSError when the file or the output cannot be written.
        """
        try:
            page = read_events(self._after, PAGE)
            if page.events:
                self._sink.write(page.events)
        except (*NO_ANSWER, RedisError) as error:
            self._tell(f"Waiting: {error}")
            return None
        self._after = page.position
        self._tell(f"Waiting for {', '.join(page.missing)}" if page.missing else "")
        self._keep(is_new=bool(page.events))
        return 0 if page.has_more else QUIET_S

    def _keep(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._file is not None and (is_new or now >= self._kept_at + KEEP_EVERY_S):
            keep_position(self._file, self._after)
            self._kept_at = now

    def _tell(self, trouble: str) -> None:
        """Each trouble once, until it is over or another one comes."""
        if trouble and trouble != self._trouble:
            self._say(trouble)
        self._trouble = trouble
