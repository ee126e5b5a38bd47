"""Ends the cooling of an author: drops the live timelines that lack posts that were not pushed.

A dropped timeline is rebuilt whole when its reader comes. AuthorCooled goes through the author's
own lane: when it is consumed, no drain is still handling a batch that took the author for hot. A
timeline that is being built at that time is dropped too, and its build ends without effect.
"""

from collections.abc import Sequence

from infra.changes.registry import Delivery, FollowUp, consumes
from relations.queries.followers import list_followers_below
from timelines.changes import AuthorCooled, FollowersBehind
from timelines.hot.actions.cool import end_cooling
from timelines.hot.directory import delete_hot_authors
from timelines.hot.entries import hot_entries_store
from timelines.stores.factory import timeline_store

FOLLOWERS_AT_ONCE = 1_000


@consumes(AuthorCooled)
def start_timeline_drops(
    alias: str, deliveries: Sequence[Delivery[AuthorCooled]]
) -> list[FollowUp]:
    """Asks for the drops from the author's newest follower on."""
    return [FollowUp(delivery.owner_id, FollowersBehind()) for delivery in deliveries]


@consumes(FollowersBehind)
def drop_follower_timelines(
    alias: str, deliveries: Sequence[Delivery[FollowersBehind]]
) -> list[FollowUp]:
    """Drops the timelines of FOLLOWERS_AT_ONCE followers, and asks for the next ones.

    Cost: one index-only query per author, and one round trip per follower.
    """
    return [follow_up for delivery in deliveries for follow_up in _drop_timelines(alias, delivery)]


def _drop_timelines(alias: str, delivery: Delivery[FollowersBehind]) -> list[FollowUp]:
    followers = list_followers_below(delivery.owner_id, delivery.payload.below, FOLLOWERS_AT_ONCE)
    for follower in followers:
        timeline_store().drop(follower.account_id)
    if len(followers) == FOLLOWERS_AT_ONCE:
        return [FollowUp(delivery.owner_id, FollowersBehind(below=followers[-1]))]
    if end_cooling(alias, delivery.owner_id):
        hot_entries_store().drop(delivery.owner_id)
        delete_hot_authors()
    return []
