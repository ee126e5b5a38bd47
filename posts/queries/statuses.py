"""Loads the JSON of posts for one viewer: single posts, and lists other than timelines."""

from collections.abc import Iterable

from posts.api.present import find_visibility
from posts.errors import CannotRepost, PostNotFound
from posts.ids import PostId
from posts.queries.viewing import OriginalByEvent, show_in_window, view_posts
from posts.types import Visibility

# Relationships are asked of fewer than a thousand at once.
MOST_AT_ONCE = 400
# In the entity of a repost, before the entity of its original.
_REBLOG = b'"reblog":{'


def load_status_json(ids: Iterable[PostId], viewer_id: int | None = None) -> dict[PostId, bytes]:
    """Status entities of the posts that exist and that the viewer may see, in the order of `ids`.

    Cost: as `load_visible`; twice that if some of the posts are reposts.
    """
    return load_with_originals(list(dict.fromkeys(ids)), viewer_id)[0]


def get_original(post_id: PostId, viewer_id: int | None) -> PostId:
    """The post, or its original if it is a repost, if the viewer may see both.

    Raises: PostNotFound. Cost: as `load_status_json`.
    """
    return get_with_visibility(post_id, viewer_id)[0]


def get_repostable(post_id: PostId, viewer_id: int) -> tuple[PostId, Visibility]:
    """As `get_original`, and the most open visibility that a repost of it by the viewer can have.

    An author may repost an own private post for the followers. Raises: PostNotFound, CannotRepost.
    """
    original, visibility = get_with_visibility(post_id, viewer_id)
    is_own_private = visibility is Visibility.PRIVATE and original.author_id == viewer_id
    if visibility > Visibility.UNLISTED and not is_own_private:
        raise CannotRepost
    return original, Visibility.PRIVATE if is_own_private else Visibility.PUBLIC


def get_with_visibility(post_id: PostId, viewer_id: int | None) -> tuple[PostId, Visibility]:
    """As `get_original`, and the visibility of the original. Raises: PostNotFound."""
    found, reposts = load_with_originals([post_id], viewer_id)
    if not found:
        raise PostNotFound
    status = found[post_id]
    visibility = find_visibility(status[status.index(_REBLOG) :] if reposts else status)
    return reposts.get(post_id, post_id), visibility


def load_with_originals(
    ids: list[PostId], viewer_id: int | None
) -> tuple[dict[PostId, bytes], OriginalByEvent]:
    """The visible posts, and the originals of those that are reposts.

    Cost: as `load_status_json`; none in the read window if all is in process memory.
    """
    known = show_in_window(ids, viewer_id)
    if known is not None and len(known) == len(ids):
        return known, {}
    viewing = view_posts({i: i for i in ids}, viewer_id)
    found = viewing.list_visible()
    reposts = viewing.find_reposts() if len(found) < len(ids) else {}
    if not reposts:
        return found, reposts
    found |= load_visible(reposts, viewer_id)
    return {i: found[i] for i in ids if i in found}, reposts


def load_visible(
    shown: OriginalByEvent, viewer_id: int | None, muted_at_ms: int | None = None
) -> dict[PostId, bytes]:
    """Status entities of the events that the viewer may see, in this order, any number.

    For callers that know the original of each event; else call `load_status_json`. `muted_at_ms`:
    leaves out events of accounts that the viewer mutes at this time. Cost: one round trip and no
    SQL when warm, for every MOST_AT_ONCE events.
    """
    events = list(shown)
    found: dict[PostId, bytes] = {}
    for start in range(0, len(events), MOST_AT_ONCE):
        part = {event: shown[event] for event in events[start : start + MOST_AT_ONCE]}
        viewing = view_posts(part, viewer_id)
        visible = viewing.list_visible()
        if muted_at_ms is not None:
            related = viewing.viewer.relationships
            muted = {i for i, one in related.items() if one.is_muted_at(muted_at_ms)}
            visible = {i: text for i, text in visible.items() if i.author_id not in muted}
        found |= visible
    return found
