"""Loads the JSON of posts for one viewer: single posts, and lists other than timelines."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion
from posts.api.present import find_reposted
from posts.cache.viewer_state import Flags, ask_viewer_state, load_flags
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.hydrate import Hydrated, Hydration, hydrate
from posts.rules import may_see
from relations.queries.relationships import ask_relationships
from relations.types import Relationship

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows
# Relationships are asked of fewer than a thousand at once.
MOST_AT_ONCE = 400


class ViewedPosts(NamedTuple):
    """Hydrated posts, with the viewer's flags and relationships, which the rules need."""

    hydrated: Hydrated
    flags: Flags
    relationships: Mapping[int, Relationship]
    viewer_id: int | None = None

    def allows(self, event: PostId, original: PostId) -> bool:
        """Whether both exist and the viewer may see both."""
        if not self.hydrated.has_both(event, original):
            return False
        accounts = self.hydrated.accounts
        authors = {i: accounts[i] for i in (event.author_id, original.author_id)}
        return may_see(self.viewer_id, authors, self.relationships)

    def present(self, event: PostId, original: PostId) -> bytes:
        """The Status entity, once `allows` is true."""
        return self.hydrated.present(event, original, self.flags.get(original, 0))


def load_status_json(ids: Iterable[PostId], viewer_id: int | None = None) -> dict[PostId, bytes]:
    """Status entities of the posts that exist and that the viewer may see, in the order of `ids`.

    Cost: as `load_visible`; twice that if some of the posts are reposts.
    """
    return {
        event: view.present(event, original)
        for event, original, view in _iter_visible(list(dict.fromkeys(ids)), viewer_id)
    }


def load_visible(shown: OriginalByEvent, viewer_id: int | None) -> dict[PostId, bytes]:
    """Status entities of the events that the viewer may see, in this order, any number.

    For callers that know the original of each event; else call `load_status_json`. Cost: one round
    trip and no SQL when warm, for every MOST_AT_ONCE events.
    """
    events = list(shown)
    found: dict[PostId, bytes] = {}
    for start in range(0, len(events), MOST_AT_ONCE):
        part = {event: shown[event] for event in events[start : start + MOST_AT_ONCE]}
        view = load_viewed_posts(part, viewer_id)
        found |= {e: view.present(e, o) for e, o in part.items() if view.allows(e, o)}
    return found


def get_original(post_id: PostId, viewer_id: int | None) -> PostId:
    """The post, or its original if it is a repost, if the viewer may see both.

    Raises: PostNotFound. Cost: as `load_status_json`.
    """
    for _, original, _ in _iter_visible([post_id], viewer_id):
        return original
    raise PostNotFound


def _iter_visible(
    ids: list[PostId], viewer_id: int | None
) -> list[tuple[PostId, PostId, ViewedPosts]]:
    """(event, original, loaded posts) of the events that the viewer may see."""
    first = load_viewed_posts(dict(zip(ids, ids, strict=True)), viewer_id)
    shown = {i: find_reposted(text) or i for i, text in first.hydrated.fragments.items()}
    reposts = {event: original for event, original in shown.items() if event != original}
    second = load_viewed_posts(reposts, viewer_id) if reposts else first
    found = [(i, shown[i], second if i in reposts else first) for i in ids if i in shown]
    return [one for one in found if one[2].allows(one[0], one[1])]


def load_viewed_posts(shown: OriginalByEvent, viewer_id: int | None) -> ViewedPosts:
    """Loads posts and the viewer's flags and relationships, in one round trip when warm."""
    originals = list(dict.fromkeys(shown.values()))
    reposts = [event for event, original in shown.items() if event != original]
    if viewer_id is None:
        return ViewedPosts(hydrate(originals, reposts=reposts), {}, {})
    others = list({i.author_id for i in (*originals, *reposts)} - {viewer_id})
    trip = RoundTrip()
    posts = Hydration(trip, originals, reposts)
    state = trip.ask(ask_viewer_state(viewer_id, trip.ask(ValidatorsQuestion(viewer_id))))
    relationships = trip.ask(ask_relationships(viewer_id, others))
    trip.run()
    hydrated = posts.value
    if state.value.wrote_lately and hydrated.has_copies:
        hydrated = hydrate(originals, reposts, is_current=True)
    flags = load_flags(viewer_id, state.value, originals)
    return ViewedPosts(hydrated, flags, relationships.value.by_account, viewer_id)
