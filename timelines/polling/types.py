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
    """Posts below a cursor that became visible after `floor`, at most MOST_LATE.

    They are in the order in which they became visible. All posts that were visible at `seen_until`
    are among them or on the page. `seen_until` None: the late posts could not be read.
    """

    posts: Sequence[LatePost]
    floor: int
    seen_until: int | None

    @property
    def end(self) -> int:
        """Up to this time no late post is missing."""
        if self.seen_until is None:
            return self.floor
        if len(self.posts) < MOST_LATE:
            return self.seen_until
        return min(self.seen_until, self.posts[-1].visible_ms - 1)


class CutPage(NamedTuple):
    """A page by `since_id` that was full: its client has to go down, to what is between the two."""

    since: PostId
    below: PostId


class PollRecord(NamedTuple):
    """What the clients with a certain cursor were served. Times are in ms.

    `entered`: how many pages ended at this cursor. If more than one, there may be several clients,
    and the other fields say what all of them were served. 0: not known, so there may be several.
    `known`: the clients got everything that was visible at this time, but not `owed`, for which a
    page had no room. `floor`: all of these became visible later, and all that comes again.
    `served`: posts that the clients got and that became visible after `floor`, or may do so once
    more; those that did so last are at the end.
    `seen_until`: the page knew what was visible up to this time.
    `stayed`: late posts of pages that did not move the cursor. One of the clients got them; the
    last ones shown are at the end. `stayed_at`: the time of the last such page. `stayed_times`: how
    many such pages there were without a pause.
    `cut_page`: the page that ended here, if it was cut. The client got what was visible then.
    """

    entered: int
    floor: int
    seen_until: int
    served: tuple[PostId, ...] = ()
    stayed: tuple[PostId, ...] = ()
    stayed_at: int = 0
    stayed_times: int = 0
    cut_page: CutPage | None = None
    known: int = 0
    owed: tuple[PostId, ...] = ()

    @property
    def is_shared(self) -> bool:
        return self.entered != 1

    @property
    def clients(self) -> int:
        """How many clients may have the cursor; if that is not known, two."""
        return self.entered or 2

    def is_below_cut(self, late: LatePost) -> bool:
        """Whether the clients had to go down to this post."""
        cut = self.cut_page
        if cut is None or late.visible_ms > self.seen_until:
            return False
        return cut.since < late.event < cut.below
