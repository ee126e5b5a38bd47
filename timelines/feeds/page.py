"""A page of any feed."""

from infra.api.pages import Page, Window
from posts.fragments.present import page_of_statuses
from posts.ids import FIRST, PostId, id_after
from timelines.cursors import range_of
from timelines.feeds.feed import Feed
from timelines.feeds.polled import poll_page
from timelines.polling.poll import Poll
from timelines.types import TimeRange


def feed_page(feed: Feed, window: Window, poll: Poll | None = None) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the feed ends.

    `poll`: of a client that polls. The page then has late posts too. Raises: InvalidCursor. Cost:
    as `take_older`; a poll costs as `poll_page`.
    """
    if poll is not None:
        return poll_page(feed, poll, window)
    time_range = range_of(window)
    if window.min_id is not None:
        # There is always an older entry: the cursor's own.
        newer = feed.take_newer(time_range, window.limit)
        return page_of_statuses(newer[::-1], has_older=True)
    shown = feed.take_older(time_range, window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


def page_around(feed: Feed, around: PostId, limit: int) -> Page[bytes]:
    """At most half of the page is newer than the id; the id itself and older entries fill it."""
    newer = feed.take_newer(TimeRange(around), limit // 2)
    left = limit - len(newer)
    older = feed.take_older(TimeRange(FIRST, id_after(around)), left + 1)
    return page_of_statuses([*newer[::-1], *older[:left]], has_older=len(older) > left)
