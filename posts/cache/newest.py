"""The newest posts of authors in process memory: their ids and kinds, no texts.

A copy is valid while the field `p` of the author's validators is the same. Each post, repost and
deletion of the author removes that field. Pages of authors begin with this list.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import islice

from infra.caching.metrics import count_reads
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, Replies, RoundTrip, answer
from infra.caching.round_trips import run_together
from infra.caching.single_flight import SingleFlight
from infra.caching.viewer_validators import (
    ValidatorsQuestion,
    ViewerCopies,
    ViewerField,
    drop_validator_commands,
    find_known_validators,
)
from posts.ids import PostId
from posts.queries.rows import ALL_KINDS, ListedPair, ListedPost, list_newest
from posts.types import Kind, PostRange, Visibility

FAMILY = "posts.newest"
# Two of the largest pages. Older posts are listed by the shard.
MOST_LISTED = 80
MOST_AUTHORS = most_entries("posts.newest", share=0.05, bytes_each=1_100)


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


_newest: ViewerCopies[NewestPosts] = ViewerCopies(FAMILY, MOST_AUTHORS)
# By author and validator. A validator that a reader finds unchanged is older than the last change.
# So a load that began under the same validator began after that change, too.
_flights: SingleFlight[tuple[int, bytes], NewestPosts] = SingleFlight()


def peek_newest_posts(author_id: int) -> NewestPosts | None:
    """The copy in process memory, perhaps outdated: a guess that `ask_newest_posts` confirms."""
    return _newest.peek(author_id)


def find_newest_in_window(author_id: int) -> NewestPosts | None:
    """The author's newest posts, if the current read need not ask for them. Cost: none."""
    validators = find_known_validators(author_id)
    newest = _newest.find(author_id, validators.posts) if validators is not None else None
    if newest is not None:
        count_reads(FAMILY, "process", 1)
    return newest


def ask_newest_posts(trip: RoundTrip, author_id: int) -> Question[NewestPosts]:
    """The author's newest posts.

    Cost: one command; one query if there is no valid copy, and one more round trip if the list has
    just changed.
    """
    validators = trip.ask(ValidatorsQuestion(author_id))
    if not _newest.has(author_id):
        validators.create(ViewerField.POSTS)
    return trip.ask(Question((), partial(_confirm, author_id, validators)))


def _confirm(author_id: int, validators: ValidatorsQuestion, _: Replies) -> NewestPosts:
    validator = validators.value.posts
    newest = _newest.find(author_id, validator)
    count_reads(FAMILY, "process", hits=newest is not None, misses=newest is None)
    return newest or _load(author_id, validator or _create_validator(author_id))


def _create_validator(author_id: int) -> bytes | None:
    """The field that a change has removed. None: without Redis."""
    validators = ValidatorsQuestion(author_id)
    validators.create(ViewerField.POSTS)
    return answer(validators).posts


def _load(author_id: int, validator: bytes | None) -> NewestPosts:
    """What this thread or another one reads from the author's shard."""
    if validator is None:
        return _read(author_id)
    key = author_id, validator

    def load(_: object) -> dict[tuple[int, bytes], NewestPosts]:
        newest = _read(author_id)
        _newest.keep(author_id, validator, newest)
        return {key: newest}

    return _flights.load([key], load)[key]


def _read(author_id: int) -> NewestPosts:
    return NewestPosts(author_id, list_newest(author_id, MOST_LISTED + 1))


def end_newest_posts(author_ids: Iterable[int]) -> None:
    """Ends the copies in all processes. Call it after the commit. One round trip, which is shared
    inline."""
    run_together(drop_validator_commands(author_ids, ViewerField.POSTS))
