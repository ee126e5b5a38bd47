"""The viewer of posts: relationships, flags and filters, and which posts the viewer may see."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.utils.functional import cached_property

from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import (
    ValidatorsQuestion,
    ViewerValidators,
    find_known_validators,
)
from posts.api.present import Flags, with_flags
from posts.cache.by_author import PostCopy
from posts.cache.viewer_state import (
    ask_viewer_state,
    find_kept_state,
    has_kept_state,
    load_flags,
)
from posts.cache.viewer_state_payload import NO_STATE, ViewerState
from posts.ids import PostId
from posts.rules import is_for_viewer, may_see_author
from relations.queries.in_process_relationships import (
    ask_relationships_under,
    find_kept_relationships,
    has_kept_relationships,
)
from relations.types import UNRELATED, Relationship


class KnownViewer(NamedTuple):
    """`account_id` None: a guest. `relationships`: with all authors of the posts in question."""

    account_id: int | None
    relationships: Mapping[int, Relationship] = {}
    state: ViewerState = NO_STATE

    def load_flags(self, posts: Mapping[PostId, bytes]) -> Flags:
        """The flags of these posts, and perhaps of other posts. `posts`: with their texts."""
        if self.account_id is None:
            return {}
        return load_flags(self.account_id, self.state, posts)

    def find_hidden(self, accounts: Mapping[int, bytes]) -> set[int]:
        """The authors none of whose posts the viewer may see."""
        return {i for i, account in accounts.items() if not self._may_see_author(i, account)}

    def show(self, posts: Mapping[PostId, PostCopy]) -> dict[PostId, bytes]:
        """Status entities of those of the finished posts that the viewer may see, in their order.

        None of them is a repost. Cost: nothing, or one query as `load_flags`.
        """
        found = {i: copy.text for i, copy in posts.items() if self._may_see(i, copy)}
        flags = self.load_flags(found)
        for post_id, status in found.items():
            if bits := flags.get(post_id):
                found[post_id] = with_flags(status, bits)
        filters = self.state.filters
        return {i: filters.apply(status) for i, status in found.items()} if filters else found

    def _may_see(self, post_id: PostId, copy: PostCopy) -> bool:
        author_id = post_id.author_id
        if not self._may_see_author(author_id, copy.account):
            return False
        if copy.is_open:
            return True
        relationship = self.relationships.get(author_id, UNRELATED)
        return is_for_viewer(self.account_id, author_id, copy.fragment, relationship)

    def _may_see_author(self, author_id: int, account: bytes) -> bool:
        if author_id == self.account_id:
            return True
        return may_see_author(self.relationships.get(author_id, UNRELATED), account)


def find_known_viewer(account_id: int | None, authors: Collection[int]) -> KnownViewer | None:
    """The viewer, without a round trip.

    None: the read window is closed, or this process does not know the viewer and all authors.
    """
    if account_id is None:
        return KnownViewer(None)
    validators = find_known_validators(account_id)
    if validators is None:
        return None
    return _find_kept(account_id, validators, [one for one in authors if one != account_id])


def _find_kept(
    account_id: int, validators: ViewerValidators, others: Sequence[int]
) -> KnownViewer | None:
    """The viewer as this process knows it, if that holds under these validators."""
    related = find_kept_relationships(account_id, validators.relationships)
    state = find_kept_state(account_id, validators)
    if related is None or state is None or related.find_unknown(others):
        return None
    return KnownViewer(account_id, related.by_account, state)


class PostViewer:
    """Questions about the viewer of posts, in a round trip. After it, `value`.

    `account_id` None: a guest. `authors`: of the posts, and of the reposts that show them. Cost:
    one command if this process knows the viewer and the authors. If the round trip says that what
    it knows has changed, one more trip.
    """

    def __init__(self, trip: RoundTrip, account_id: int | None, authors: Collection[int]) -> None:
        self._account_id = account_id
        self._asked: _ViewerQuestions | None = None
        if account_id is None:
            return
        self._others = [author for author in authors if author != account_id]
        self._validators = trip.ask(ValidatorsQuestion(account_id))
        if not (has_kept_state(account_id) and has_kept_relationships(account_id, self._others)):
            self._asked = _ViewerQuestions(trip, account_id, self._others, self._validators)

    @cached_property
    def value(self) -> KnownViewer:
        if self._account_id is None:
            return KnownViewer(None)
        known = None
        if self._asked is None:
            known = _find_kept(self._account_id, self._validators.value, self._others)
        return known or self._load(self._account_id)

    def _load(self, account_id: int) -> KnownViewer:
        asked = self._asked
        if asked is None:
            trip = RoundTrip()
            validators = trip.ask(ValidatorsQuestion(account_id))
            asked = _ViewerQuestions(trip, account_id, self._others, validators)
            trip.run()
        return KnownViewer(account_id, asked.relationships.value, asked.state.value)


class _ViewerQuestions:
    """Questions about a viewer that this process does not know, in a round trip."""

    def __init__(
        self,
        trip: RoundTrip,
        account_id: int,
        others: Collection[int],
        validators: ValidatorsQuestion,
    ) -> None:
        self.state = trip.ask(ask_viewer_state(account_id, validators))
        self.relationships = trip.ask(ask_relationships_under(account_id, others, validators))
