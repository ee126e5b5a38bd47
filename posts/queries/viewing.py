"""Posts as one viewer sees them: what the viewer may see, with the viewer's flags."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from infra.caching.invalidation_log import LogQuestion
from infra.caching.questions import Question, RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion
from posts.api.present import find_reposted, with_flags
from posts.cache.by_author import PostCopy
from posts.cache.viewer_state import Flags, ViewerState, ask_viewer_state, load_flags
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated, Hydration, hydrate
from posts.rules import may_see
from relations.queries.in_process_relationships import ask_relationships_under
from relations.types import Relationship

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows


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


class _Viewer(NamedTuple):
    """The questions about the viewer of a round trip."""

    account_id: int
    state: Question[ViewerState]
    relationships: Question[Mapping[int, Relationship]]

    @property
    def wrote_lately(self) -> bool:
        return self.state.value.wrote_lately


class Viewing:
    """Questions about posts and about their viewer, in one round trip. Ask one answer after it.

    `log`: the invalidation log, if it was asked before in the same round trip. Cost: no SQL when
    warm; no command for posts that are finished in process memory. A viewer who wrote lately pays a
    second round trip for names and counts as they are now.
    """

    def __init__(
        self,
        trip: RoundTrip,
        shown: OriginalByEvent,
        viewer_id: int | None,
        log: LogQuestion | None = None,
    ) -> None:
        self._shown = shown
        self._originals = list(dict.fromkeys(shown.values()))
        self._reposts = [event for event, original in shown.items() if event != original]
        self._posts = Hydration(trip, self._originals, self._reposts, log=log)
        self._viewer = None if viewer_id is None else self._ask_viewer(trip, viewer_id)

    def _ask_viewer(self, trip: RoundTrip, viewer_id: int) -> _Viewer:
        others = authors_of((*self._originals, *self._reposts)) - {viewer_id}
        validators = trip.ask(ValidatorsQuestion(viewer_id))
        state = trip.ask(ask_viewer_state(viewer_id, validators))
        relationships = trip.ask(ask_relationships_under(viewer_id, others, validators))
        return _Viewer(viewer_id, state, relationships)

    @cached_property
    def value(self) -> ViewedPosts:
        hydrated, viewer = self._posts.value, self._viewer
        if viewer is None:
            return ViewedPosts(hydrated, {}, {})
        if hydrated.has_copies and viewer.wrote_lately:
            hydrated = hydrate(self._originals, self._reposts, is_current=True)
        return ViewedPosts(
            hydrated, self._load_flags(), viewer.relationships.value, viewer.account_id
        )

    def list_visible(self) -> dict[PostId, bytes]:
        """Status entities of the events that the viewer may see, in their order."""
        ready = self._find_ready()
        found = self._list_ready(ready)
        others = {e: o for e, o in self._shown.items() if e is not o or e not in ready}
        if not others:
            return found
        viewed = self.value
        found |= {e: viewed.present(e, o) for e, o in others.items() if viewed.allows(e, o)}
        return {event: found[event] for event in self._shown if event in found}

    def find_reposts(self) -> OriginalByEvent:
        """Those of the posts that are reposts, each with the post that it shows.

        For callers who do not know the originals: `list_visible` leaves out such reposts.
        """
        fragments = self.value.hydrated.fragments
        return {i: shown for i, text in fragments.items() if (shown := find_reposted(text))}

    def _find_ready(self) -> Mapping[PostId, PostCopy]:
        """The posts that are finished in process memory, if this viewer may get copies."""
        if self._viewer is not None and self._viewer.wrote_lately:
            return {}
        return self._posts.ready

    def _list_ready(self, ready: Mapping[PostId, PostCopy]) -> dict[PostId, bytes]:
        """Posts that are no reposts. The rule is about authors, so it is asked once for each."""
        accounts = {post_id.author_id: copy.account for post_id, copy in ready.items()}
        clear = {i for i, account in accounts.items() if self._may_see(i, account)}
        found = {
            event: ready[event].text
            for event, original in self._shown.items()
            if event is original and event in ready and event.author_id in clear
        }
        flags = self._load_flags() if found else {}
        for post_id in found.keys() & flags.keys():
            found[post_id] = with_flags(found[post_id], flags[post_id])
        return found

    def _may_see(self, author_id: int, account: bytes) -> bool:
        viewer = self._viewer
        if viewer is None:
            return may_see(None, {author_id: account}, {})
        return may_see(viewer.account_id, {author_id: account}, viewer.relationships.value)

    def _load_flags(self) -> Flags:
        viewer = self._viewer
        return load_flags(viewer.account_id, viewer.state.value, self._originals) if viewer else {}


def view_posts(shown: OriginalByEvent, viewer_id: int | None) -> Viewing:
    """As `Viewing`, in a round trip of its own."""
    trip = RoundTrip()
    viewing = Viewing(trip, shown, viewer_id)
    trip.run()
    return viewing
