"""A page of the public timeline: the newest posts of all authors."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from accounts.encode import is_limited
from infra.api.pages import Page, Window
from infra.clock import now_ms
from posts.api.present import page_of_statuses
from posts.ids import FIRST, LAST, PostId
from posts.queries.statuses import ViewedPosts, load_viewed_posts
from relations.types import UNRELATED
from timelines.cache import load_public_ids
from timelines.queries.home import decode_cursor


class PublicViewer(NamedTuple):
    """The viewer (None: signed out) and the time, because mutes end."""

    account_id: int | None
    now_ms: int


def public_page(
    viewer_id: int | None, window: Window, clock_ms: Callable[[], int] = now_ms
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends, which is bounded.

    Cost when warm: two round trips and no SQL. Posts that the viewer may not see cost one more per
    refill.
    """
    viewer, ids = PublicViewer(viewer_id, clock_ms()), load_public_ids()
    if window.min_id is not None:
        above = decode_cursor(window.min_id)
        newer = _take(viewer, [i for i in reversed(ids) if i > above], window.limit)
        return page_of_statuses(newer[::-1], has_older=True)
    above = decode_cursor(window.since_id) if window.since_id else FIRST
    below = decode_cursor(window.max_id) if window.max_id else LAST
    shown = _take(viewer, [i for i in ids if above < i < below], window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


def _take(viewer: PublicViewer, ids: Sequence[PostId], count: int) -> list[bytes]:
    """The first `count` posts that the viewer may see and did not mute."""
    shown: list[bytes] = []
    while ids and len(shown) < count:
        part, ids = ids[: count - len(shown)], ids[count - len(shown) :]
        view = load_viewed_posts({post_id: post_id for post_id in part}, viewer.account_id)
        shown += [view.present(i, i) for i in part if _is_wanted(viewer, view, i)]
    return shown


def _is_wanted(viewer: PublicViewer, view: ViewedPosts, post_id: PostId) -> bool:
    """Leaves out limited accounts: their followers see the posts at home."""
    relationship = view.relationships.get(post_id.author_id, UNRELATED)
    if is_limited(view.hydrated.accounts.get(post_id.author_id, b"")):
        return False
    return view.allows(post_id, post_id) and not relationship.is_muted_at(viewer.now_ms)
