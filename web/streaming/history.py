"""The last happenings, for clients that come back and say where they were."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from web.streaming.happenings.posts import PostShown
from web.streaming.happenings.types import Happening
from web.streaming.positions import ClientPosition, Place

# A reconnection takes seconds. These are minutes on a busy site, hours on a quiet one.
MOST_KEPT = 20_000
# Those of a few seconds on a busy site.
MOST_LOOKED_AT = 1_000
# A process that has just begun does not know which older changes have been dropped.
LONGEST_MS = 3_600_000


class PlacedHappening(NamedTuple):
    """`before`, `after`: the encoded positions around its change, which was written at `written_ms`
    and delivered later."""

    alias: str
    place: Place
    before: bytes
    after: bytes
    written_ms: int
    happening: Happening


class History:
    """Needs the lock of the directory, as what is kept must be exactly what was sent to those in
    it."""

    def __init__(self) -> None:
        self._kept: deque[PlacedHappening] = deque()
        # By alias: all later happenings are kept.
        self._complete_from: dict[str, Place] = {}
        self._now: dict[str, Place] = {}
        self._at_ms = 0

    @property
    def position(self) -> ClientPosition:
        """Behind all that was noted."""
        return ClientPosition(self._at_ms, dict(self._now))

    def begin(self, alias: str, place: Place) -> None:
        """A database is read from there on. Nothing of it is kept any more, after a gap."""
        self._kept = deque(placed for placed in self._kept if placed.alias != alias)
        self._complete_from[alias] = self._now[alias] = place

    def move(self, alias: str, place: Place, at_ms: int) -> None:
        """Everything of the database up to there has been noted."""
        self._now[alias] = place
        self._at_ms = max(self._at_ms, at_ms)

    def note(self, placed: PlacedHappening) -> None:
        self._kept.append(placed)
        if len(self._kept) > MOST_KEPT:
            dropped = self._kept.popleft()
            self._complete_from[dropped.alias] = max(
                dropped.place, self._complete_from[dropped.alias]
            )

    def list_posts(self, author_id: int, written_ms: int) -> list[PlacedHappening]:
        """What happened to posts of the author that were written then or later, in this order. It
        looks at the last MOST_LOOKED_AT happenings."""
        newest = [*islice(reversed(self._kept), MOST_LOOKED_AT)]
        return [
            placed
            for placed in reversed(newest)
            if placed.written_ms >= written_ms
            and isinstance(placed.happening, PostShown)
            and placed.happening.post_id.author_id == author_id
        ]

    def since(self, position: ClientPosition) -> Sequence[PlacedHappening] | None:
        """What came after the position; None if a part of it may be forgotten."""
        if self._at_ms - position.at_ms > LONGEST_MS:
            return None
        places = position.by_alias
        if places.keys() != self._complete_from.keys():
            return None
        if any(places[alias] < first for alias, first in self._complete_from.items()):
            return None
        # The server was restored from a dump, or another process is ahead of this one.
        if any(place > self._now[alias] for alias, place in places.items()):
            return None
        return [placed for placed in self._kept if placed.place > places[placed.alias]]
