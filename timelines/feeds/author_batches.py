"""The batches of an author's page: some posts of a range, the same for all viewers.

A batch comes from the list of the author's newest posts, if this has the whole range; else from the
shard: for older posts, and for posts with images or a tag.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from accounts.cache import profiles
from accounts.errors import AccountNotFound
from infra.api.pages import ReusablePage
from infra.caching.questions import Question, RoundTrip
from infra.sharding.replicas import settled_before
from posts.cache.newest import NewestPosts, ask_newest_posts
from posts.fragments.present import page_of_statuses
from posts.fragments.read import has_media, is_open
from posts.ids import SEQUENCES, authors_of, second_of
from posts.queries.rows import (
    ALL_KINDS,
    PAST_ALL,
    ListedPair,
    list_timeline,
    list_with_images,
    list_with_tag,
)
from posts.reading.hydrate import Hydrated, hydrate
from posts.reading.viewing import PostViewer, view
from posts.types import PostRange, Visibility
from relations.types import UNRELATED


class AuthorTimelineQuery(NamedTuple):
    """Which kinds of posts of which author are wanted, by which viewer.

    `most_closed`: posts that fewer accounts may see are not asked for. `only_media`: only posts
    with images. `tag`: only public posts with this tag, which is normalized. `with_direct`: an
    author's own list has its direct posts.
    """

    author_id: int
    viewer_id: int | None = None
    kinds: Collection[int] = ALL_KINDS
    most_closed: Visibility = Visibility.UNLISTED
    only_media: bool = False
    tag: str | None = None
    with_direct: bool = True


A_POST = 600


class AuthorBatch(NamedTuple):
    """Some posts of a timeline, visible or not. `page`: of all of them, for viewers who see all and
    have no flags and filters. None: some are not open. `serial`: another one for each batch."""

    pairs: Sequence[ListedPair]
    hydrated: Hydrated
    page: ReusablePage | None
    serial: object

    @property
    def size(self) -> int:
        """Bytes of its texts, and of what Python adds to each post."""
        texts = *self.hydrated.fragments.values(), *self.hydrated.accounts.values()
        page = self.page.items if self.page else ()
        return sum(map(len, texts)) + sum(map(len, page)) + A_POST * len(self.pairs)

    @property
    def authors(self) -> Collection[int]:
        """Also of the posts that reposts show."""
        return self.hydrated.accounts.keys()


def read_batch(
    query: AuthorTimelineQuery,
    post_range: PostRange,
    note_authors: Callable[[Collection[int]], object] = len,
) -> AuthorBatch:
    """The first posts of the range. `query`: its viewer does not matter.

    `note_authors`: called with all authors before the trip that reads the posts.
    Raises: AccountNotFound. Cost: two round trips; one query more for what the list of the newest
    posts lacks.
    """
    pairs = _list_pairs(query, post_range, _load_newest(query, post_range.upper == PAST_ALL))
    shown = dict(pairs)
    reposts = [event for event, original in pairs if event != original]
    note_authors(authors_of((*shown, *shown.values())))
    hydrated = hydrate(list(dict.fromkeys(shown.values())), reposts)
    return AuthorBatch(pairs, hydrated, _find_page(query, post_range, pairs, hydrated), object())


def show_batch(
    query: AuthorTimelineQuery, batch: AuthorBatch, viewer: PostViewer
) -> Sequence[bytes]:
    """Status entities of the posts that the viewer may see here, in their order."""
    shown, author_id = dict(batch.pairs), query.author_id
    viewed = view(list(shown.values()), batch.hydrated, viewer)
    statuses = list(viewed.list_visible(shown).values())
    is_followed = viewed.relationships.get(author_id, UNRELATED).is_followed
    if viewer.account_id not in (None, author_id) and not is_followed:
        # Closed posts that mention the viewer are visible, but not here (author.py).
        statuses = [status for status in statuses if is_open(status)]
    return [status for status in statuses if has_media(status)] if query.only_media else statuses


def find_page(batch: AuthorBatch, viewer: PostViewer) -> ReusablePage | None:
    """The page of all posts of the batch, if it is the same for this viewer as for a guest."""
    if batch.page is None or viewer.state.filters or viewer.state.muted or viewer.state.floor:
        return None
    hydrated = batch.hydrated
    if viewer.account_id is not None and not viewer.sees_all(hydrated.accounts):
        return None
    has_flags = not viewer.state.flags.keys().isdisjoint(hydrated.fragments)
    return None if has_flags else batch.page


def page_of(post_range: PostRange, statuses: Sequence[bytes]) -> ReusablePage:
    """The page of a range with these visible posts, in the order of the range."""
    if not post_range.newest_first:
        return ReusablePage(*page_of_statuses(statuses[::-1], has_older=True))
    limit = post_range.most - 1
    return ReusablePage(*page_of_statuses(statuses[:limit], has_older=len(statuses) > limit))


def _find_page(
    query: AuthorTimelineQuery,
    post_range: PostRange,
    pairs: Sequence[ListedPair],
    hydrated: Hydrated,
) -> ReusablePage | None:
    statuses = show_batch(query, AuthorBatch(pairs, hydrated, None, None), PostViewer(None))
    return page_of(post_range, statuses) if statuses and len(statuses) == len(pairs) else None


def _load_newest(query: AuthorTimelineQuery, is_newest: bool) -> NewestPosts | None:
    """The author's newest posts, if they may be of use. Raises: AccountNotFound."""
    trip, author_id = RoundTrip(), query.author_id
    profile = trip.ask(profiles.ask_uncopied([author_id]))
    newest: Question[NewestPosts | None] | None = None
    if query.tag is None and not query.only_media:
        newest = trip.ask(ask_newest_posts(author_id, profile, may_load=is_newest))
    trip.run()
    if author_id not in profile.value:
        raise AccountNotFound
    return newest.value if newest is not None else None


def _list_pairs(
    query: AuthorTimelineQuery, post_range: PostRange, newest: NewestPosts | None
) -> Sequence[ListedPair]:
    author_id, kinds, most_closed = query.author_id, query.kinds, query.most_closed
    if query.tag is not None:
        return list_with_tag(author_id, post_range, kinds, query.tag)
    if query.only_media:
        return list_with_images(author_id, post_range, kinds, most_closed)
    listed = newest.find(post_range, kinds, most_closed) if newest is not None else None
    if listed is not None:
        return listed
    return list_timeline(author_id, post_range, kinds, _is_settled(post_range.upper), most_closed)


def _is_settled(moment: int) -> bool:
    """Whether a replica has all posts before this moment. Deleted ones are dropped later."""
    return moment < second_of(settled_before(time.time())) * SEQUENCES
