"""Values of catch-up: what arrived in a home timeline since its marker, up to a fixed bound."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from infra.api import base36
from posts.ids import BASE36_DIGITS, PostId
from timelines.types import Entry

# Enough until the year 5188.
MS_DIGITS = 9
BOUND_DIGITS = 2 * BASE36_DIGITS + 2 * MS_DIGITS


class MalformedBound(ValueError):
    """The text is not a bound."""


class Bound(NamedTuple):
    """Both ends of one catch-up. Times are in ms, by the clock of the reader's shard.

    `since`: the marker's id. `until`: the newest entry of the first page. Entries between the two
    belong to the catch-up, and those up to `since` that became visible after `floor_ms` and not
    after `seen_ms`.
    """

    since: PostId
    until: PostId
    floor_ms: int
    seen_ms: int

    @property
    def text(self) -> str:
        """BOUND_DIGITS base36 digits: the two ids, then the two times."""
        times = (base36.encode(at_ms, MS_DIGITS) for at_ms in (self.floor_ms, self.seen_ms))
        return "".join((self.since.base36, self.until.base36, *times))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Raises: MalformedBound."""
        if len(text) != BOUND_DIGITS:
            raise MalformedBound
        ids, times = text[: 2 * BASE36_DIGITS], text[2 * BASE36_DIGITS :]
        try:
            return cls(
                PostId.from_base36(ids[:BASE36_DIGITS]),
                PostId.from_base36(ids[BASE36_DIGITS:]),
                base36.decode(times[:MS_DIGITS]),
                base36.decode(times[MS_DIGITS:]),
            )
        except ValueError:
            raise MalformedBound from None


class Exclusions(NamedTuple):
    """What a catch-up leaves out, as the client wants."""

    replies: bool = False
    reposts: bool = False


class CatchUp(NamedTuple):
    """The entries of a catch-up in the order of its pages.

    The first `together_count` entries show posts that several followees reposted. The others are
    in groups by the author of the event. `left_below`: entries older than this one had no room.
    """

    bound: Bound
    left_below: PostId | None
    together_count: int
    entries: Sequence[Entry]


class CatchUpPage(NamedTuple):
    """Part of a catch-up.

    `before`: the last event of the page before. `statuses`: Status entities by event, in the order
    of the entries. `after`: the cursor of the next page, None if this is the last one.
    """

    whole: CatchUp
    before: PostId | None
    statuses: Mapping[PostId, bytes]
    after: PostId | None
