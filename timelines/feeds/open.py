"""Posts of accounts that the viewer need not follow: the public timeline, tags and trends."""

from collections.abc import Callable, Iterable

from posts.ids import PostId
from posts.reading.viewing import ViewedPosts, view_posts
from relations.types import UNRELATED
from relations.visibility import Surface, may_show
from timelines.types import Entry

Wanted = Callable[[ViewedPosts, PostId], bool]


def show_open(
    viewer_id: int | None, entries: Iterable[Entry], now_ms: int, is_wanted: Wanted
) -> list[bytes]:
    """Status entities of the posts that the viewer may see there, in the order of the entries.

    `is_wanted`: is asked about posts that exist and that the viewer may see. Cost: as `view_posts`.
    """
    shown = dict(entries)
    if not shown:
        return []
    view = view_posts(shown, viewer_id)
    visible = [i for i in shown if is_visible_in_public(view, i, now_ms) and is_wanted(view, i)]
    return [view.present(post_id, post_id) for post_id in visible]


def is_visible_in_public(view: ViewedPosts, post_id: PostId, now_ms: int) -> bool:
    """Whether the public timeline and tag timelines show the post to this viewer.

    They leave out limited accounts, whose followers see the posts at home, and muted ones.
    """
    if not view.allows(post_id, post_id):
        return False
    author_id = post_id.author_id
    relationship = view.relationships.get(author_id, UNRELATED)
    return may_show(Surface.PUBLIC, relationship, now_ms, view.hydrated.accounts[author_id])
