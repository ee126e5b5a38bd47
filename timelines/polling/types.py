"""Values of polls: a client asks for what is above the newest id that it has seen (ADR 0034)."""

from collections.abc import Iterable, Sequence
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


def without_repeats(posts: Iterable[LatePost]) -> list[LatePost]:
    """At most MOST_LATE, by visible time. A post that is there twice, as by two tags, is there once
    with its later visible time."""
    latest: dict[PostId, LatePost] = {}
    for post in sorted(posts, key=_by_visible_time):
        latest[post.event] = post
    return sorted(latest.values(), key=_by_visible_time)[:MOST_LATE]


def _by_visible_time(late: LatePost) -> tuple[int, PostId]:
    return late.visible_ms, late.event


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


class PollRecord(NamedTuple):
    """What all clients with a certain cursor were served. Times are in ms.

    `entered`: how many pages ended at this cursor. If more than one, there may be several clients,
    and the other fields say what all of them were served. 0: not known, so there may be several.
    `known`: the clients got everything that was visible at this time, but not `owed`, for which a
    page had no room. `floor`: all of these became visible later, and all that comes again.
    `seen_until`: the page knew what was visible up to this time.
    `served`: posts that the clients got and that became visible after `known`, or may do so once
    more; those that did so last are at the end.
    """

    entered: int
    floor: int
    seen_until: int
    served: tuple[PostId, ...] = ()
    known: int = 0
    owed: tuple[PostId, ...] = ()

    @property
    def is_shared(self) -> bool:
        return self.entered != 1


class Returned(NamedTuple):
    """What at least one of the clients that poll from a cursor in one way was returned.

    `known`, `served`, `owed`: as in a record, but of any of these clients. `pending`: what one of
    them may lack, because a page had no room. `floor`: a client that is alone got all that became
    visible before. `cut`: the range to which a client goes down after a page that was cut; none or
    two ids.
    """

    floor: int = 0
    known: int = 0
    served: tuple[PostId, ...] = ()
    owed: tuple[PostId, ...] = ()
    pending: tuple[PostId, ...] = ()
    cut: tuple[PostId, ...] = ()
