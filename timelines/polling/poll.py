"""One request of a client that polls, and which late posts the client gets."""

from collections.abc import Iterable
from typing import NamedTuple

from posts.ids import PostId
from timelines.polling.records import PAGE_MS, Poller
from timelines.polling.types import LatePost, LatePosts, PollRecord, Returned
from timelines.recent.queries.late_rows import MARGIN_MS, SKEW_MS

# An ordinary page may lack what became visible in this time before it.
UNSURE_MS = SKEW_MS + MARGIN_MS


class Poll(NamedTuple):
    """One request of a polling client.

    `record`: what all clients with the cursor were served. `returned`: what one of those that poll
    in the same way was.
    """

    poller: Poller
    cursor: PostId
    record: PollRecord
    returned: Returned
    late: LatePosts


class LateParts(NamedTuple):
    """Late posts in the order of their visible times.

    `fresh`: no client that polls in this way got them. `again`: one of them did and another one may
    lack them, or the answer was lost. They are returned once more, with the page that moves the
    client on.
    """

    fresh: list[LatePost]
    again: list[LatePost]


def sort_late(poll: Poll) -> LateParts:
    """What the clients with the cursor lack."""
    record, returned = poll.record, poll.returned
    is_of_all = _Got(record.known, record.served, returned.pending)
    is_returned = _Got(returned.known, returned.served, returned.owed)
    parts = LateParts([], [])
    for post in poll.late.posts:
        if post not in is_of_all:
            is_again = post in is_returned or _is_below_cut(returned, post)
            (parts.again if is_again else parts.fresh).append(post)
    return parts


def list_due(again: Iterable[LatePost], cursor: PostId) -> list[LatePost]:
    """What a page that moves its client to this cursor may return again: what each page with this
    cursor or a newer one had, also an ordinary one. So it is not returned a third time."""
    return [post for post in again if post.visible_ms + UNSURE_MS <= cursor.posted_at_s * 1000]


class _Got:
    """The posts that were returned, by what a record says."""

    def __init__(self, known: int, served: Iterable[PostId], owed: Iterable[PostId]) -> None:
        self._known, self._served, self._owed = known, frozenset(served), frozenset(owed)

    def __contains__(self, late: LatePost) -> bool:
        is_known = late.visible_ms <= self._known or late.event in self._served
        return is_known and late.event not in self._owed


def _is_below_cut(returned: Returned, late: LatePost) -> bool:
    """Whether a client had to go down to this post, and may have got it there."""
    if not returned.cut:
        return False
    since, below = returned.cut
    return since < late.event < below and late.visible_ms <= returned.known + PAGE_MS
