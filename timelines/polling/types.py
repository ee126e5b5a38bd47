"""Values of polls: a client asks for what is above the newest id that it has seen (ADR 0034)."""

from collections.abc import Sequence
from typing import NamedTuple

from posts.ids import PostId
from timelines.types import Entry

# A poll that finds more late posts than this returns them in several answers.
MOST_LATE = 2_000


class LatePost(NamedTuple):
    """An entry below a client's cursor, and when it became visible, in ms."""

    entry: Entry
    visible_ms: int

    @property
    def event(self) -> PostId:
        return self.entry.event


class LatePosts(NamedTuple):
    """Posts below a cursor that became visible after `floor`, in that order, at most MOST_LATE.

    All posts that were visible at `seen_until` are there or on the page. None: the late posts could
    not be read.
    """

    posts: Sequence[LatePost]
    floor: int
    seen_until: int | None

    @property
    def end(self) -> int:
        """Up to when these are all late posts."""
        if self.seen_until is None:
            return self.floor
        if len(self.posts) < MOST_LATE:
            return self.seen_until
        return min(self.seen_until, self.posts[-1].visible_ms - 1)


class Walk(NamedTuple):
    """A client goes down a page that was full. The page began at the cursor `since`; what the
    client asks for next is below `below`."""

    since: PostId
    below: PostId


class PollRecord(NamedTuple):
    """What clients that have a certain cursor were served. Times are in ms.

    `entered`: how often a page ended at this cursor. If more than once, there may be several
    clients, and the rest is what all of them were served.
    `floor`: everything that was visible then. `served`: newer posts. `seen_until`: up to when the
    page of this record knew what was visible.
    `stayed`: late posts of pages that ended at the cursor they began at, the last one at
    `stayed_at`, after `stayed_times` such pages without a pause. One of several clients got them;
    those that were shown last are at the end.
    `walk`: the page that ended here was full, and more of it is below.
    """

    entered: int
    floor: int
    seen_until: int
    served: frozenset[PostId] = frozenset()
    stayed: tuple[PostId, ...] = ()
    stayed_at: int = 0
    stayed_times: int = 0
    walk: Walk | None = None

    @property
    def is_shared(self) -> bool:
        return self.entered > 1
