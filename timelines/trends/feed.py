"""The trending posts as a viewer may see them."""

from collections.abc import Sequence

from accounts.encode import is_discoverable
from infra.clock import now_ms
from posts.fragments.read import find_visibility
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from posts.types import Visibility
from timelines.feeds.feed import collect
from timelines.feeds.open import show_open
from timelines.trends.cache import find_trends
from timelines.types import Entry

AT_ONCE = 40


def trending_page(viewer_id: int | None, offset: int, limit: int) -> list[bytes]:
    """Status entities, the best first: those that the public timeline would show to the viewer, of
    authors who may be suggested.

    Cost: one round trip, and as `collect`, with AT_ONCE posts at once.
    """

    def show(entries: Sequence[Entry]) -> list[bytes]:
        return show_open(viewer_id, entries, now_ms(), _is_suggested)

    entries = (Entry.of_post(PostId.from_public(text)) for text in find_trends().posts)
    return collect(show, entries, offset + limit, AT_ONCE)[offset:]


def _is_suggested(view: ViewedPosts, post_id: PostId) -> bool:
    is_public = find_visibility(view.hydrated.fragments[post_id]) is Visibility.PUBLIC
    return is_public and is_discoverable(view.hydrated.accounts[post_id.author_id])
