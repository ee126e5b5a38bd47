"""The followers of an account as one of them sees it that has just followed or unfollowed."""

from collections.abc import Iterable, Sequence

from counters.cache import account_counts
from counters.kinds import CounterKind
from counters.own_counts import ShownCount, field_of, find_seen_count, register_shown_count
from counters.sql import select_counts
from infra.caching.questions import Question
from infra.caller_acts import OwnAct, acts_of_request
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.cache import OPEN_FOLLOWS
from relations.queries.edge_lists import ListReads
from relations.queries.edges import get_edge
from relations.sql import BACKWARD_TABLE, KIND
from relations.types import ListedAccount

# The count that others see, and the follow that it includes. One statement, hence one snapshot.
COUNTED = f"""
{select_counts("%(followee)s", "0", "kind IN (1, 4)")}
UNION ALL
SELECT 0, attribute FROM {BACKWARD_TABLE}
WHERE followee_id = %(followee)s AND kind = {KIND} AND follower_id = %(follower)s
"""  # noqa: S608


def follow_of(followee_id: int) -> OwnAct:
    """A change of an account's follow of this one."""
    return OwnAct(CounterKind.FOLLOWERS, followee_id)


def find_seen_followers(follower_id: int, followee_id: int) -> int | None:
    """How many followers the follower sees before a write of the edge; None if Redis does not know.
    One round trip."""
    cached = account_counts.ask_cached([followee_id])
    count: Question[int | None] = cached.then(
        lambda entries: _open_followers(entries[followee_id].payload) if entries else None
    )
    return find_seen_count(follower_id, follow_of(followee_id), count)


def with_own_follow(reads: ListReads, followee_id: int, follower_id: int | None) -> ListReads:
    """The followers list of an account for this follower, whose follow or its end may be pending.

    Cost: one query of each read while it is.
    """

    def newest(below: ListedAccount | None, limit: int) -> list[ListedAccount]:
        members = reads.newest(below, limit)
        if not is_pending():
            return members
        own = find_own()
        is_inside = own is not None and (below is None or own < below)
        return merge(reads.newest(below, limit + 1), own if is_inside else None)[:limit]

    def above(bound: ListedAccount, limit: int) -> list[ListedAccount]:
        members = reads.above(bound, limit)
        if not is_pending():
            return members
        own = find_own()
        is_inside = own is not None and own > bound
        return merge(reads.above(bound, limit + 1), own if is_inside else None)[-limit:]

    def is_pending() -> bool:
        return follow_of(followee_id) in acts_of_request()

    def find_own() -> ListedAccount | None:
        assert follower_id is not None  # noqa: S101 - guests have no acts
        edge = get_edge(shard_of(follower_id), follower_id, followee_id)
        return ListedAccount(edge.since_ms, follower_id) if edge.attribute in OPEN_FOLLOWS else None

    def merge(members: Iterable[ListedAccount], own: ListedAccount | None) -> list[ListedAccount]:
        others = [member for member in members if member.account_id != follower_id]
        return sorted([*others, *([own] if own is not None else [])], reverse=True)

    return ListReads(newest, above)


def _open_followers(payload: bytes) -> int:
    """From an entry of `account_counts`: as present_account shows them."""
    followers, _, _, quiet, *_ = map(int, payload.split(b","))
    return followers - quiet


def _read_followers(follower_id: int, acts: Sequence[OwnAct]) -> int:
    """Two queries, one of them on the followee's shard."""
    followee_id = acts[0].owner_id
    params = {"followee": followee_id, "follower": follower_id}
    counted = dict(fetch_all(shard_of(followee_id), COUNTED, params))
    followers = counted.get(CounterKind.FOLLOWERS, 0) - counted.get(CounterKind.QUIET_FOLLOWERS, 0)
    own = get_edge(shard_of(follower_id), follower_id, followee_id).attribute in OPEN_FOLLOWS
    return followers - (counted.get(0) in OPEN_FOLLOWS) + own


register_shown_count(
    CounterKind.FOLLOWERS,
    ShownCount(field_of("followers_count"), lambda s: str(s[0]), _read_followers),
)
