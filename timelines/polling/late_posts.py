"""Finds the posts that became visible after a client saw a newer one: of authors, and at home also
with home tags."""

import structlog

from infra.caching.questions import Question
from infra.changes.errors import UNREACHABLE
from infra.clock import now_ms
from posts.ids import PostId
from timelines.polling.types import LatePosts, without_repeats
from timelines.recent.factory import recent_index
from timelines.recent.queries.late_rows import PolledAuthors, earliest_floor, floor_after_move
from timelines.tags.cache import HomeTags
from timelines.tags.queries.late_tagged import load_late_tagged

log = structlog.get_logger()


def load_late_posts(authors: PolledAuthors, cursor: PostId, floor: int | None) -> LatePosts:
    """The posts of these authors below the cursor that became visible after `floor`.

    `floor` None: after a client can have seen the cursor first. Call it before the page is read:
    what becomes visible between the two is on the page or is late for the next poll.
    If a shard does not answer, the late posts are unread. Cost: as the index.
    """
    floor = floor_after_move(authors.reader_id, cursor, floor)
    try:
        return recent_index().load_late(authors, cursor, floor)
    except UNREACHABLE as error:
        return _unread(error, earliest_floor(cursor, floor, now_ms()))


class LateAtHome:
    """The late posts of one reader's home timeline. `asked`: a question that has had its trip."""

    def __init__(self, reader_id: int, asked: Question[HomeTags]) -> None:
        self._authors, self._asked = PolledAuthors(reader_id), asked

    def load(self, cursor: PostId, floor: int | None) -> LatePosts:
        """As `load_late_posts`. Cost: for a reader with home tags one more query on each shard that
        has one of them."""
        late = load_late_posts(self._authors, cursor, floor)
        if not self._asked.value:
            return late
        return _join(late, _load_tagged(self._asked.value, cursor, late.floor))


def _load_tagged(names: HomeTags, cursor: PostId, floor: int) -> LatePosts:
    try:
        return load_late_tagged(names, cursor, floor)
    except UNREACHABLE as error:
        return _unread(error, floor)


def _join(late: LatePosts, tagged: LatePosts) -> LatePosts:
    """One list by visible time. It knows what both know."""
    floor = min(late.floor, tagged.floor)
    if late.seen_until is None or tagged.seen_until is None:
        return LatePosts((), floor, None)
    posts = without_repeats([*late.posts, *tagged.posts])
    return LatePosts(posts, floor, min(late.end, tagged.end, late.seen_until, tagged.seen_until))


def _unread(error: Exception, floor: int) -> LatePosts:
    log.warning("polls.late_posts_not_read", error=str(error))
    return LatePosts((), floor, None)
