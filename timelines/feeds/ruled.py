"""Feeds that show what certain accounts post, by the rules of home: home itself, and lists."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from operator import itemgetter
from typing import ClassVar, NamedTuple

from infra.caching.questions import answer, ask_both
from posts.addressed import Addressed, find_addressed
from posts.cache.viewer_state import load_flags
from posts.cache.viewer_state_payload import ViewerState
from posts.fragments.present import with_reposters
from posts.ids import PostId, authors_of
from posts.reading.hydrate import Hydrated, ask_posts
from relations.queries.relationships import ask_relationships, with_others
from relations.visibility import Surface
from timelines.actions.repair_timeline import request_repair_if_stale
from timelines.addressed import ReplyScope
from timelines.feeds.feed import Feed
from timelines.feeds.known_replies import note_replies
from timelines.rules import VisibilityInputs, merge
from timelines.types import ORIGINAL, Entry, Place, reposts_among

_EVENT = itemgetter(0)

# The reposters who are named with a post; a client can ask for the others.
MOST_REPOSTERS = 10


class VisiblePosts(NamedTuple):
    """Hydrated posts, and for each post that is visible its visible entries, newest first."""

    hydrated: Hydrated
    by_post: Mapping[PostId, Sequence[Entry]]


class RuledFeed(Feed):
    """The entries of one reader, for one request. All rules use the same `now_ms`.

    `viewer_state`: the reader's favourites, bookmarks, reposts and filters. `is_stored`: entries
    come from a live timeline, which may need a repair. `surface`, `replies`, `home_tags`: as
    VisibilityInputs.
    """

    reader_id: int
    now_ms: int
    viewer_state: ViewerState
    is_stored: ClassVar[bool]
    surface: ClassVar[Surface]
    replies: ReplyScope
    home_tags: Set[str] = frozenset()

    @abstractmethod
    def list_sources(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """These entries and all others that show the same posts, without repeats, visible or
        not."""

    def show(self, entries: Sequence[Entry]) -> list[bytes]:
        """Status entities, in the order of the entries. Each post is at its newest visible entry
        only. Cost when warm: one round trip.
        """
        hydrated, by_post = self._load_visible(entries)
        state = self.viewer_state
        flags = load_flags(self.reader_id, state, by_post, hydrated.fragments)
        newest = [visible[0] for visible in by_post.values()]
        statuses = hydrated.splice(newest, self.reader_id, flags)
        shown = dict(zip(map(_EVENT, newest), statuses, strict=True))
        for event, original in reposts_among(newest):
            shown[event] = _with_reposters(hydrated, shown[event], by_post[original])
        if filters := state.filters:
            shown = {i: filters.apply(status) for i, status in shown.items()}
        return [shown[entry.event] for entry in entries if entry.event in shown]

    def list_places(self, entries: Sequence[Entry]) -> list[Place]:
        """The same as `show`, but places instead of Status entities."""
        hydrated, by_post = self._load_visible(entries)
        places = {
            visible[0].event: Place(visible, hydrated.fragments[original])
            for original, visible in by_post.items()
        }
        return [places[entry.event] for entry in entries if entry.event in places]

    def _load_visible(self, entries: Sequence[Entry]) -> VisiblePosts:
        """The posts of these entries that the rules let the reader see. Cost: one round trip."""
        sources = self.list_sources(entries)
        inputs, hydrated = self._load(sources)
        by_post = merge(sources, inputs)
        if self.is_stored and 2 * len(by_post) < len(entries):
            request_repair_if_stale(entries, inputs, len(entries))
        return VisiblePosts(hydrated, by_post)

    def _load(self, sources: Sequence[Entry]) -> tuple[VisibilityInputs, Hydrated]:
        """The posts, and the inputs of the rules."""
        reader_id, reposts = self.reader_id, [event for event, _ in reposts_among(sources)]
        originals = list(map(ORIGINAL, sources))
        others = authors_of(originals + reposts) - {reader_id}
        posts = ask_posts(originals, reposts)
        hydrated, relationships = answer(ask_both(posts, ask_relationships(reader_id, [*others])))
        addressed = find_addressed(hydrated.fragments)
        inputs = VisibilityInputs(
            reader_id,
            self.now_ms,
            hydrated.fragments,
            hydrated.accounts,
            with_others(reader_id, relationships, _list_addressed(addressed, reader_id)),
            addressed,
            self.replies,
            self.surface,
            self.home_tags,
        )
        if self.is_stored:
            note_replies(inputs)
        return inputs, hydrated


def _list_addressed(posts: Mapping[PostId, Addressed], reader_id: int) -> set[int]:
    """The accounts whose relationships the rules need."""
    others = (a.account_ids for i, a in posts.items() if i.author_id != reader_id)
    return {account_id for several in others for account_id in several} - {reader_id}


def _with_reposters(hydrated: Hydrated, status: bytes, visible: Sequence[Entry]) -> bytes:
    original = visible[0].original
    reposters = [by.author_id for by, _ in visible[:MOST_REPOSTERS] if by != original]
    return with_reposters(status, [hydrated.accounts[reposter] for reposter in reposters])
