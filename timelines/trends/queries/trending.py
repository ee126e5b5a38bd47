"""The trending posts as a viewer may see them."""

from accounts.encode import is_discoverable
from infra.clock import now_ms
from posts.fragments.read import find_visibility
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from posts.types import Visibility
from timelines.feeds.open import show_open
from timelines.trends.cache import find_trends

# Posts are read until a page is full, so many at once.
AT_ONCE = 40


def list_trending_posts(viewer_id: int | None, offset: int, limit: int) -> list[bytes]:
    """Status entities, the best first: those that the public timeline would show to the viewer, of
    authors who may be suggested.

    Raises: RedisError. Cost: one round trip, and one for AT_ONCE posts until the page is full.
    """
    ids = [PostId.from_public(text) for text in find_trends().posts]
    shown: list[bytes] = []
    for start in range(0, len(ids), AT_ONCE):
        shown += show_open(viewer_id, ids[start : start + AT_ONCE], now_ms(), _is_suggested)
        if len(shown) >= offset + limit:
            break
    return shown[offset : offset + limit]


def _is_suggested(view: ViewedPosts, post_id: PostId) -> bool:
    is_public = find_visibility(view.hydrated.fragments[post_id]) is Visibility.PUBLIC
    return is_public and is_discoverable(view.hydrated.accounts[post_id.author_id])
