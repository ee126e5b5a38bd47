"""Loads the JSON of posts for one viewer: single posts, and lists other than timelines."""

from collections.abc import Iterable

from posts.errors import CannotRepost, PostNotFound
from posts.fragments.read import find_visibility
from posts.ids import PostId
from posts.reading.viewing import OriginalByEvent, view_posts
from posts.types import Visibility
from relations.visibility import Surface

# Relationships are asked of fewer than a thousand at once.
MOST_AT_ONCE = 400
# In the entity of a repost, before the entity of its original.
_REBLOG = b'"reblog":{'


def load_status_json(
    ids: Iterable[PostId],
    viewer_id: int | None = None,
    surface: Surface = Surface.OPENED,
    now_ms: int = 0,
) -> dict[PostId, bytes]:
    """Status entities of the posts that exist and that the viewer may see there, in the order of
    `ids`.

    Cost: as `load_visible`; twice that if some of the posts are reposts.
    """
    return load_with_originals(list(dict.fromkeys(ids)), viewer_id, surface, now_ms)[0]


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
    visible, reposts = load_with_originals([post_id], viewer_id)
    if not visible:
        raise PostNotFound
    status = visible[post_id]
    visibility = find_visibility(status[status.index(_REBLOG) :] if reposts else status)
    return reposts.get(post_id, post_id), visibility


def get_shown(post_id: PostId, viewer_id: int | None) -> tuple[PostId, bytes]:
    """The post, or its original if it is a repost, and its Status entity.

    Raises: PostNotFound unless the viewer may see both. Cost: as `load_status_json`; twice that for
    a repost.
    """
    statuses, originals = load_with_originals([post_id], viewer_id)
    original = originals.get(post_id, post_id)
    if statuses and original != post_id:
        statuses = load_status_json([original], viewer_id)
    if original not in statuses:
        raise PostNotFound
    return original, statuses[original]


def load_with_originals(
    ids: list[PostId],
    viewer_id: int | None,
    surface: Surface = Surface.OPENED,
    now_ms: int = 0,
) -> tuple[dict[PostId, bytes], OriginalByEvent]:
    """The visible posts, and the originals of those that are reposts.

    Cost: as `load_status_json`.
    """
    shown = {i: i for i in ids}
    viewed = view_posts(shown, viewer_id)
    visible = viewed.list_visible(shown, surface, now_ms)
    reposts = viewed.find_reposts() if len(visible) < len(ids) else {}
    if not reposts:
        return visible, reposts
    visible |= load_visible(reposts, viewer_id, surface, now_ms)
    return {i: visible[i] for i in ids if i in visible}, reposts


def load_visible(
    shown: OriginalByEvent,
    viewer_id: int | None,
    surface: Surface = Surface.OPENED,
    now_ms: int = 0,
) -> dict[PostId, bytes]:
    """Status entities of the events that the viewer may see there, in this order, any number.

    For callers that know the original of each event; else call `load_status_json`. Cost: one round
    trip and no SQL when warm, for every MOST_AT_ONCE events.
    """
    events = list(shown)
    visible: dict[PostId, bytes] = {}
    for start in range(0, len(events), MOST_AT_ONCE):
        part = {event: shown[event] for event in events[start : start + MOST_AT_ONCE]}
        visible |= view_posts(part, viewer_id).list_visible(part, surface, now_ms)
    return visible
