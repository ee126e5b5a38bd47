"""A small network with every kind of edge, and the ways its derived side can be wrong."""

from typing import NamedTuple

from django.conf import settings

from counters.kinds import CounterKind
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.world import drain_all, make_accounts


class Network(NamedTuple):
    ann: int
    bob: int
    cyd: int
    dan: int
    eve: int


def make_network() -> Network:
    """Delivered, and on several shards: open, quiet, special and ended follows, blocks."""
    people = Network(*make_accounts(5))
    ann, bob, cyd, dan, eve = people
    for followee in (bob, cyd, dan):
        follow(ann, followee)
    follow(bob, ann, FollowOptions(quiet=True, special=True))
    follow(cyd, ann)
    follow(dan, ann)
    unfollow(dan, ann)
    follow(eve, bob)
    block(ann, eve)
    block(dan, cyd)
    unblock(dan, cyd)
    drain_all()
    return people


def forget_derived_side() -> None:
    """As after a migration that brought the forward edges and their counts."""
    kinds = [CounterKind.FOLLOWERS.value, CounterKind.QUIET_FOLLOWERS.value]
    for alias in settings.SHARD_ALIASES:
        execute(alias, "DELETE FROM relations_backwardedge")
        execute(alias, "DELETE FROM counters_counter WHERE kind = ANY(%s)", (kinds,))


def write_backward(follower_id: int, followee_id: int, assignments: str) -> None:
    sql = f"UPDATE relations_backwardedge SET {assignments}"
    where = " WHERE followee_id = %s AND follower_id = %s"
    assert execute(shard_of(followee_id), sql + where, (followee_id, follower_id)) == 1


def delete_edge(side: str, follower_id: int, followee_id: int) -> None:
    owner = follower_id if side == "forward" else followee_id
    sql = f"DELETE FROM relations_{side}edge WHERE followee_id = %s AND follower_id = %s"
    assert execute(shard_of(owner), sql, (followee_id, follower_id)) == 1


def write_count(owner_id: int, kind: CounterKind, value: int) -> None:
    sql = "UPDATE counters_counter SET value = %s WHERE owner_id = %s AND kind = %s"
    assert execute(shard_of(owner_id), sql, (value, owner_id, kind.value)) == 1
