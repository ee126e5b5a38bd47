"""Following lists of big accounts in process memory: whole, hot or not (seed S3 10.4.3).

Very many accounts look at what a big account follows, and it follows rarely. A copy is valid while
the field `f` of the owner's validators is the same. Each change of the list removes that field.
The lists are those that others see. Followers lists never are in process memory.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from accounts.cache import profiles
from accounts.errors import AccountNotFound
from counters.cache import account_counts
from infra.caching.metrics import count_reads
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, RoundTrip
from infra.caching.values import StoredValue
from infra.caching.viewer_validators import (
    NO_VALIDATORS,
    ValidatorsQuestion,
    ViewerCopies,
    ViewerField,
    ViewerValidators,
)
from relations.cache import FOLLOWING, QUIET
from relations.queries.cached_edge_list import EdgeListRead, ask_whole, load_part
from relations.queries.loaders import load_following_lists
from relations.types import ListedAccount

# An account with so many followers is big.
BIG_FOLLOWERS = 10_000
# What a list takes without members, in their number.
A_LIST = 25
# Of all lists together.
MOST_MEMBERS = most_entries("relations.big_following", share=0.03, bytes_each=16)


class OpenFollowing:
    """The open follows of an account. Shape: newest first, 16 bytes each."""

    __slots__ = ("_account_ids", "_since_ms")

    def __init__(self, newest_first: Iterable[ListedAccount]) -> None:
        listed = list(newest_first)
        self._since_ms = array("q", [member.since_ms for member in listed])
        self._account_ids = array("q", [member.account_id for member in listed])

    def __len__(self) -> int:
        return len(self._account_ids)

    def below(self, bound: ListedAccount | None, limit: int) -> list[ListedAccount]:
        """The `limit` newest members older than the bound, newest first."""
        start = 0 if bound is None else self._first(lambda member: member < bound)
        return self._cut(start, start + limit)

    def above(self, bound: ListedAccount, limit: int) -> list[ListedAccount]:
        """The `limit` oldest members newer than the bound, newest first."""
        end = self._first(lambda member: member <= bound)
        return self._cut(max(0, end - limit), end)

    def _first(self, is_past: Callable[[ListedAccount], bool]) -> int:
        """The position of the first member that is past a bound. Later ones are, too."""
        positions = range(len(self._account_ids))
        return bisect_left(positions, True, key=lambda n: is_past(self._at(n)))

    def _at(self, position: int) -> ListedAccount:
        return ListedAccount(self._since_ms[position], self._account_ids[position])

    def _cut(self, start: int, end: int) -> list[ListedAccount]:
        members = zip(self._since_ms[start:end], self._account_ids[start:end], strict=True)
        return [ListedAccount(*member) for member in members]


def _weigh(following: OpenFollowing) -> int:
    return len(following) + A_LIST


_lists: ViewerCopies[OpenFollowing] = ViewerCopies(MOST_MEMBERS, _weigh)


def find_big_following(account_id: int) -> OpenFollowing | None:
    """The whole list of a big account, as others see it; None: read its pages from Redis.

    None if the account has fewer than BIG_FOLLOWERS followers, if Redis lacks its counts, and
    without Redis. Raises: AccountNotFound. Cost: one round trip, as for the account alone. The
    first read of a big account, and the first after a change, costs one more; two queries and a
    third trip if Redis lacks the list.
    """
    trip = RoundTrip()
    existing = trip.ask(profiles.ask_uncopied([account_id]))
    following = trip.ask(_ask(account_id))
    trip.run()
    if account_id not in existing.value:
        raise AccountNotFound
    return following.value


def _ask(owner_id: int) -> Question[OpenFollowing | None]:
    """The validators of a list that is in memory, else the counts of the account."""
    if _lists.has(owner_id):
        return ValidatorsQuestion(owner_id).then(partial(_check, owner_id))
    return account_counts.ask_cached([owner_id]).then(partial(_load_if_big, owner_id))


def _check(owner_id: int, validators: ViewerValidators) -> OpenFollowing | None:
    if validators is NO_VALIDATORS:  # without Redis
        return None
    following = _lists.find(owner_id, validators.following)
    count_reads(FOLLOWING.family, "process", hits=following is not None, misses=following is None)
    return _load(owner_id) if following is None else following


def _load_if_big(owner_id: int, counts: Mapping[int, StoredValue]) -> OpenFollowing | None:
    entry = counts.get(owner_id)
    if entry is None or not entry.payload:
        return None
    followers = int(entry.payload.partition(b",")[0])
    return _load(owner_id) if followers >= BIG_FOLLOWERS else None


def _load(owner_id: int) -> OpenFollowing | None:
    """Keeps the list under the validator that was read before it."""
    trip = RoundTrip()
    validators = trip.ask(ValidatorsQuestion(owner_id))
    validators.create(ViewerField.FOLLOWING)
    read = EdgeListRead(
        FOLLOWING, partial(ask_whole, FOLLOWING, owner_id, QUIET), lambda all_: all_
    )
    cached = trip.ask(read.ask())
    trip.run()
    if trip.error:
        return None
    whole = cached.value or load_part(
        owner_id, read, lambda tokens: load_following_lists(owner_id, tokens).open()
    )
    following = OpenFollowing(whole.items)
    _lists.keep(owner_id, validators.value.following, following)
    return following
