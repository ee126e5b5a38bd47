"""The cache of authors' newest posts: their ids and kinds, no texts. Pages of authors begin here.

    posts.newest:v1:{author}   version:…:[[moment, kind, target author, its moment, visibility],…]

Newest first, at most MOST_LISTED + 1 posts: the list is whole if there are fewer. Each post, repost
and deletion of the author deletes the entry, and the load token with it, so that a load in progress
is not written. So an entry needs no version: it is always 0.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

import msgspec

from infra.caching.questions import Question
from infra.caching.round_trips import run_together
from infra.caching.values import ValueCache, Versioned
from posts.ids import PostId
from posts.queries.rows import ALL_KINDS, ListedPair, ListedPost, list_newest
from posts.types import Kind, PostRange, Visibility

# Two of the largest pages. Older posts are listed by the shard.
MOST_LISTED = 80
TTL_S = 7 * 86_400
_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(list[ListedPost]).decode


class NewestPosts:
    """An author's newest live posts, hidden ones too. Shape: oldest first, 10 bytes each.

    `most_closed`: the highest visibility among them.
    No live post of the moment `_complete_from` or later is missing.
    """

    __slots__ = (
        "_author_id",
        "_complete_from",
        "_kinds",
        "_moments",
        "_originals",
        "_visibilities",
        "most_closed",
    )

    def __init__(self, author_id: int, newest_first: Sequence[ListedPost]) -> None:
        """`newest_first`: at most MOST_LISTED + 1 posts; the list is whole if there are fewer."""
        listed = newest_first[:MOST_LISTED][::-1]
        self._author_id = author_id
        self._complete_from = listed[0].moment if len(newest_first) > MOST_LISTED else 0
        self._moments = array("q", [post.moment for post in listed])
        self._kinds = bytes(post.kind for post in listed)
        self._visibilities = bytes(post.visibility for post in listed)
        self.most_closed = max(self._visibilities, default=Visibility.PUBLIC)
        self._originals = dict(_iter_originals(listed))

    def find(
        self,
        post_range: PostRange,
        kinds: Collection[int] = ALL_KINDS,
        most_closed: Visibility = Visibility.PRIVATE,
    ) -> list[ListedPair] | None:
        """As `list_timeline`. None: the range may have posts that are not in this list."""
        lower, upper, most, newest_first = post_range
        start, end = bisect_left(self._moments, lower), bisect_left(self._moments, upper)
        places: Iterable[int] = range(end - 1, start - 1, -1) if newest_first else range(start, end)
        if len(kinds) < len(ALL_KINDS):
            places = (place for place in places if self._kinds[place] in kinds)
        if self.most_closed > most_closed:
            places = (place for place in places if self._visibilities[place] <= most_closed)
        newest = [self._pair(self._moments[place]) for place in islice(places, most)]
        is_full = newest_first and len(newest) == most
        return newest if is_full or lower >= self._complete_from else None

    def _pair(self, moment: int) -> ListedPair:
        event = PostId.at(self._author_id, moment)
        return event, self._originals.get(moment, event)


def _iter_originals(posts: Iterable[ListedPost]) -> Iterable[tuple[int, PostId]]:
    for moment, kind, author_id, target, _ in posts:
        if kind == Kind.REPOST and author_id is not None and target is not None:
            yield moment, PostId.at(author_id, target)


def _load(author_ids: Sequence[int]) -> Mapping[int, Versioned]:
    """One query an author: only one author is asked for at a time."""
    newest = {author: list_newest(author, MOST_LISTED + 1) for author in author_ids}
    return {author: Versioned(0, _encode(posts)) for author, posts in newest.items()}


def _is_list(payload: bytes) -> bool:
    """Also an empty one. Raises: msgspec.MsgspecError."""
    return _decode(payload) is not None


newest_posts = ValueCache("posts.newest:v1", TTL_S, _load, _is_list)


def ask_newest_posts(
    author_id: int, existing: Question[dict[int, bytes]], may_load: bool = True
) -> Question[NewestPosts | None]:
    """The author's newest posts. None: not of an account that is not shown; nor if Redis lacks the
    list and it may not be loaded, as for older pages, which most often begin below it.

    `existing`: the profile of the author, asked before in the same round trip: ids that a client
    makes up would create entries. Cost: one command; one query and two more round trips for a load.
    """
    if may_load:
        asked = newest_posts.ask_uncopied([author_id], lambda: existing.value.keys())
    else:
        asked = newest_posts.ask_cached([author_id]).then(
            lambda cached: {author: entry.payload for author, entry in cached.items()}
        )
    return asked.then(
        lambda lists: NewestPosts(author_id, _decode(lists[author_id])) if lists else None
    )


def end_newest_posts(author_ids: Iterable[int]) -> None:
    """Deletes the entries. Call it after the commit. One round trip, which is shared inline."""
    run_together(newest_posts.drop_commands(list(author_ids)))
