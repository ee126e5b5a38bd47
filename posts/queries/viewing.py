"""Posts as one viewer sees them: what the viewer may see, with the viewer's flags."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from django.utils.functional import cached_property

from infra.caching.invalidation_log import LOG, LogQuestion
from infra.caching.questions import RoundTrip
from posts.api.present import Flags, find_reposted
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated, Hydration, hydrate
from posts.queries.viewer import KnownViewer, PostViewer, find_known_viewer
from posts.rules import is_for_viewer, may_see
from relations.types import UNRELATED, Relationship

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows


class ViewedPosts(NamedTuple):
    """Hydrated posts, with the viewer's flags and filters, and relationships for the rules."""

    hydrated: Hydrated
    flags: Flags
    relationships: Mapping[int, Relationship]
    viewer_id: int | None = None
    filters: FilterSet = NO_FILTERS

    def allows(self, event: PostId, original: PostId) -> bool:
        """Whether both exist and the viewer may see both."""
        if not self.hydrated.has_both(event, original):
            return False
        accounts = self.hydrated.accounts
        authors = {i: accounts[i] for i in (event.author_id, original.author_id)}
        may_see_authors = may_see(self.viewer_id, authors, self.relationships)
        return may_see_authors and self._is_for_viewer(event) and self._is_for_viewer(original)

    def present(self, event: PostId, original: PostId) -> bytes:
        """The Status entity, once `allows` is true."""
        status = self.hydrated.present(event, original, self.flags.get(original, 0))
        return self.filters.apply(status)

    def _is_for_viewer(self, post_id: PostId) -> bool:
        author_id, fragment = post_id.author_id, self.hydrated.fragments[post_id]
        relationship = self.relationships.get(author_id, UNRELATED)
        return is_for_viewer(self.viewer_id, author_id, fragment, relationship)


class Viewing:
    """Questions about posts and about their viewer, in one round trip. After it, the answers.

    `log`: the invalidation log, if it was asked before in the same round trip. `is_current`: the
    viewer is known to have written lately, so no names and counts come from process memory. Cost:
    no SQL when warm; no command for posts that are finished in process memory. If only the round
    trip says that the viewer wrote lately, one more trip.
    """

    def __init__(
        self,
        trip: RoundTrip,
        shown: OriginalByEvent,
        viewer_id: int | None,
        log: LogQuestion | None = None,
        is_current: bool = False,
    ) -> None:
        self._shown = shown
        self._originals = list(dict.fromkeys(shown.values()))
        self._reposts = [event for event, original in shown.items() if event != original]
        asked = self._originals, self._reposts
        self._posts = Hydration(trip, *asked, is_current=is_current, log=log)
        authors = authors_of((*self._originals, *self._reposts))
        self._viewer = PostViewer(trip, viewer_id, authors)

    @cached_property
    def value(self) -> ViewedPosts:
        hydrated, viewer = self._posts.value, self.viewer
        if hydrated.has_copies and viewer.state.wrote_lately:
            hydrated = hydrate(self._originals, self._reposts, is_current=True)
        posts = {i: hydrated.fragments[i] for i in self._originals if i in hydrated.fragments}
        flags, filters = viewer.load_flags(posts), viewer.state.filters
        return ViewedPosts(hydrated, flags, viewer.relationships, viewer.account_id, filters)

    @property
    def viewer(self) -> KnownViewer:
        """After the round trip."""
        return self._viewer.value

    def list_visible(self) -> dict[PostId, bytes]:
        """Status entities of the events that the viewer may see, in their order."""
        finished = self._find_finished()
        found = self._list_finished(finished)
        others = {e: o for e, o in self._shown.items() if e is not o or e not in finished}
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

    def _find_finished(self) -> Mapping[PostId, PostCopy]:
        """The posts that are finished in process memory, if this viewer may get copies."""
        return {} if self.viewer.state.wrote_lately else self._posts.finished

    def _list_finished(self, finished: Mapping[PostId, PostCopy]) -> dict[PostId, bytes]:
        """Posts that are no reposts."""
        posts = {e: finished[e] for e, o in self._shown.items() if e is o and e in finished}
        return self.viewer.show(posts)


def view_posts(shown: OriginalByEvent, viewer_id: int | None, is_current: bool = False) -> Viewing:
    """As `Viewing`, in a round trip of its own."""
    trip = RoundTrip()
    viewing = Viewing(trip, shown, viewer_id, is_current=is_current)
    trip.run()
    return viewing


def show_in_window(ids: Collection[PostId], viewer_id: int | None) -> dict[PostId, bytes] | None:
    """Status entities of the posts that the viewer may see, in the order of `ids`. Cost: none.

    None: the read window is closed, or a post or the viewer is not in process memory.
    """
    finished = in_process_posts.find_finished(ids, LOG.find_offset_in_window())
    if len(finished) < len(ids):
        return None
    viewer = find_known_viewer(viewer_id, authors_of(finished))
    return viewer.show(finished) if viewer is not None else None
