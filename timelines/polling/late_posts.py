"""Finds the posts that became visible after a client saw a newer one."""

import structlog

from infra.changes.errors import UNREACHABLE
from infra.clock import now_ms
from posts.ids import PostId
from timelines.polling.moved import floor_after_move
from timelines.polling.types import LatePosts
from timelines.recent.factory import recent_index
from timelines.recent.queries.late_posts import PolledAuthors, earliest_floor

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
        log.warning("polls.late_posts_not_read", error=str(error))
        return LatePosts((), earliest_floor(cursor, floor, now_ms()), None)
