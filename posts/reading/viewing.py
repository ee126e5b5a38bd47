"""Posts as one viewer sees them: by relationships and filters, with the viewer's flags."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from infra.caching.questions import Question, answer, ask_both
from posts.cache.viewer_state import ask_viewer_state, load_flags
from posts.cache.viewer_state_payload import NO_STATE, ViewerState
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.fragments.present import Flags
from posts.fragments.read import find_reposted
from posts.ids import PostId, authors_of
from posts.reading.hydrate import Hydrated, ask_posts
from posts.rules import is_for_viewer, may_see
from relations.queries.relationships import ask_relationships
from relations.types import UNRELATED, Relationship
from relations.visibility import Surface

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows


class PostViewer(NamedTuple):
    """`account_id` None: a guest. `relationships`: with all authors of the posts in question."""

    account_id: int | None
    relationships: Mapping[int, Relationship] = {}
    state: ViewerState = NO_STATE

    def load_flags(self, ids: Iterable[PostId], texts: Mapping[PostId, bytes]) -> Flags:
        """The flags of these posts, and perhaps of other posts. `texts`: by post."""
        if self.account_id is None:
            return {}
        return load_flags(self.account_id, self.state, ids, texts)

    def sees_all(self, authors: Mapping[int, bytes]) -> bool:
        """Whether the viewer may see open posts of all of them. `authors`: their Account JSON."""
        return may_see(self.account_id, authors, self.relationships)


def ask_viewer(account_id: int | None, authors: Collection[int]) -> Question[PostViewer]:
    """The viewer. `authors`: of the posts, and of the reposts that show them. Two commands."""
    if account_id is None:
        return Question((), lambda _: PostViewer(None))
    others = [author for author in authors if author != account_id]
    both = ask_both(ask_viewer_state(account_id), ask_relationships(account_id, others))
    return both.then(lambda parts: PostViewer(account_id, parts[1].by_account, parts[0]))


class ViewedPosts(NamedTuple):
    """Hydrated posts, with the viewer's flags and filters, and relationships for the rules."""

    hydrated: Hydrated
    flags: Flags
    relationships: Mapping[int, Relationship]
    viewer_id: int | None = None
    filters: FilterSet = NO_FILTERS

    def allows(
        self,
        event: PostId,
        original: PostId,
        surface: Surface = Surface.OPENED,
        now_ms: int = 0,
    ) -> bool:
        """Whether both exist and the viewer may see both there (posts.rules.may_see)."""
        if not self.hydrated.has_both(event, original):
            return False
        accounts = self.hydrated.accounts
        authors = {i: accounts[i] for i in (event.author_id, original.author_id)}
        may_see_authors = may_see(self.viewer_id, authors, self.relationships, surface, now_ms)
        return may_see_authors and self._is_for_viewer(event) and self._is_for_viewer(original)

    def present(self, event: PostId, original: PostId) -> bytes:
        """The Status entity, once `allows` is true."""
        flags = self.flags.get(original, 0)
        return self.filters.apply(self.hydrated.present(event, original, self.viewer_id, flags))

    def list_visible(
        self, shown: OriginalByEvent, surface: Surface = Surface.OPENED, now_ms: int = 0
    ) -> dict[PostId, bytes]:
        """Status entities of the events that the viewer may see there, in their order."""
        return {
            e: self.present(e, o) for e, o in shown.items() if self.allows(e, o, surface, now_ms)
        }

    def find_reposts(self) -> OriginalByEvent:
        """Those of the posts that are reposts, each with the post that it shows.

        For callers who do not know the originals: `list_visible` leaves out such reposts.
        """
        fragments = self.hydrated.fragments
        return {i: shown for i, text in fragments.items() if (shown := find_reposted(text))}

    def _is_for_viewer(self, post_id: PostId) -> bool:
        author_id, fragment = post_id.author_id, self.hydrated.fragments[post_id]
        relationship = self.relationships.get(author_id, UNRELATED)
        return is_for_viewer(self.viewer_id, author_id, fragment, relationship)


def ask_viewed(shown: OriginalByEvent, viewer_id: int | None) -> Question[ViewedPosts]:
    """The posts as the viewer sees them. Cost: as `ask_posts` and `ask_viewer`; one query for flags
    of posts that are older than the viewer state."""
    originals = dict.fromkeys(shown.values())
    posts = ask_posts(originals, [event for event, original in shown.items() if event != original])
    viewer = ask_viewer(viewer_id, authors_of((*shown, *originals)))
    return ask_both(posts, viewer).then(lambda parts: view(originals, *parts))


def view(originals: Iterable[PostId], hydrated: Hydrated, viewer: PostViewer) -> ViewedPosts:
    """`originals`: those of the posts that are no reposts."""
    flags = viewer.load_flags(originals, hydrated.fragments)
    state = viewer.state
    return ViewedPosts(hydrated, flags, viewer.relationships, viewer.account_id, state.filters)


def view_posts(shown: OriginalByEvent, viewer_id: int | None) -> ViewedPosts:
    """As `ask_viewed`, in a round trip of its own."""
    return answer(ask_viewed(shown, viewer_id))
