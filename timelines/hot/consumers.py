"""The end of being hot: live timelines that lack what was not pushed are dropped, a few at a time.

What is dropped is built anew, whole, when its reader comes. AuthorCooled goes through the author's
own lane, so when it is consumed no batch is under way that still took the author for hot; and a
build that began before is ended by the drop.
"""

from collections.abc import Sequence

from infra.caching.client import redis
from infra.changes.registry import Delivery, FollowUp, consumes
from relations.queries.followers import list_followers_below
from timelines.changes import AuthorCooled, FollowersBehind
from timelines.hot.directory import invalidate_command
from timelines.hot.entries import hot_entries_store
from timelines.hot.queries.hot_authors import end_cooling
from timelines.stores.factory import timeline_store

FOLLOWERS_AT_ONCE = 1_000


@consumes(AuthorCooled)
def start_timeline_drops(
    alias: str, deliveries: Sequence[Delivery[AuthorCooled]]
) -> list[FollowUp]:
    return [FollowUp(one.owner_id, FollowersBehind()) for one in deliveries]


@consumes(FollowersBehind)
def drop_follower_timelines(
    alias: str, deliveries: Sequence[Delivery[FollowersBehind]]
) -> list[FollowUp]:
    """Cost: one index-only query, and one round trip for each of FOLLOWERS_AT_ONCE followers."""
    return [follow_up for one in deliveries for follow_up in _catch_up(alias, one)]


def _catch_up(alias: str, one: Delivery[FollowersBehind]) -> list[FollowUp]:
    followers = list_followers_below(one.owner_id, one.payload.below, FOLLOWERS_AT_ONCE)
    for follower in followers:
        timeline_store().drop(follower.account_id)
    if len(followers) == FOLLOWERS_AT_ONCE:
        return [FollowUp(one.owner_id, FollowersBehind(below=followers[-1]))]
    if end_cooling(alias, one.owner_id):
        hot_entries_store().drop(one.owner_id)
        redis().call(*invalidate_command())
    return []
