"""Finds the late posts of a home timeline: of followees, and with home tags."""

from collections.abc import Iterable

import structlog

from infra.caching.questions import Question
from infra.changes.errors import UNREACHABLE
from posts.ids import PostId
from timelines.polling.late_posts import load_late_posts
from timelines.polling.types import MOST_LATE, LatePost, LatePosts
from timelines.recent.queries.late_posts import PolledAuthors
from timelines.tags.cache import HomeTags
from timelines.tags.queries.late_posts import load_late_tagged

log = structlog.get_logger()


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
        log.warning("polls.late_posts_not_read", error=str(error))
        return LatePosts((), floor, None)


def _join(late: LatePosts, tagged: LatePosts) -> LatePosts:
    """One list by visible time. It knows what both know."""
    floor = min(late.floor, tagged.floor)
    if late.seen_until is None or tagged.seen_until is None:
        return LatePosts((), floor, None)
    posts = _without_repeats([*late.posts, *tagged.posts])
    return LatePosts(posts, floor, min(late.end, tagged.end, late.seen_until, tagged.seen_until))


def _without_repeats(posts: Iterable[LatePost]) -> list[LatePost]:
    """A followee's post with a home tag is there once, with its later visible time."""
    latest: dict[PostId, LatePost] = {}
    for post in sorted(posts, key=_by_visible_time):
        latest[post.event] = post
    return sorted(latest.values(), key=_by_visible_time)[:MOST_LATE]


def _by_visible_time(late: LatePost) -> tuple[int, PostId]:
    return late.visible_ms, late.event
