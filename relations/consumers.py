"""What relations do with changes of edges: the other side, its count, and the cached lists.

What the rules ask comes first, then the follower's own list: a followee's shard out of reach must
hold up neither.
"""

from collections.abc import Iterator, Mapping, Sequence

from counters.cache import refresh_account_counts
from infra.caching.client import Command, redis
from infra.caching.invalidation import forget_in_process, invalidation_command
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from relations.actions.mirror import mirror_on_shard, refresh_followers
from relations.cache import (
    FOLLOWING,
    QUIET,
    QUIET_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.changes import EdgeChanged, MuteChanged
from relations.queries.edges import Pair, group_by_followee_shard, load_forward_edges
from relations.types import FOLLOWS, Edge

Deliveries = Sequence[Delivery[EdgeChanged]]


@consumes(EdgeChanged, MuteChanged, inline=True)
def forget_relationships(
    alias: str, deliveries: Sequence[Delivery[EdgeChanged | MuteChanged]]
) -> None:
    """The owners' next reads ask their shard what lies between them and the others now."""
    redis().run(relationship_changes((d.owner_id, _other(d.payload)) for d in deliveries))


@consumes(EdgeChanged, inline=True)
def refresh_following_lists(alias: str, deliveries: Deliveries) -> None:
    """Brings the followers' own following lists and counts up to the rows."""
    forward = load_forward_edges(alias, _pairs(deliveries))
    owner_ids = list(dict.fromkeys(delivery.owner_id for delivery in deliveries))
    changes = [c for delivery in deliveries for c in _list_commands(delivery, forward)]
    try:
        redis().run([*changes, invalidation_command(FOLLOWING.family, owner_ids)])
    finally:  # without an answer it may have been done all the same
        forget_in_process(FOLLOWING.family, owner_ids)
    refresh_account_counts(owner_ids)


@consumes(EdgeChanged)
def mirror_backward_edges(alias: str, deliveries: Deliveries) -> None:
    """Brings backward edges, follower counts and followers lists up to the forward edges.

    Safety: idempotent and commutative: what is written is the forward edge as it is now, and only
    where its revision is newer. Caches are refreshed even when no row had to change, since an
    earlier run may have died between the two.
    """
    forward = load_forward_edges(alias, _pairs(deliveries))
    groups = group_by_followee_shard(forward)
    mirrored = [mirror_on_shard(target, group) for target, group in groups.items()]
    failpoint("relations.mirrored")
    # After all rows: with Redis away the truth at least is everywhere.
    redis().run(relationship_changes((followee, follower) for follower, followee in forward))
    for followees in mirrored:
        refresh_followers(followees)


def _other(news: EdgeChanged | MuteChanged) -> int:
    return news.followee_id if isinstance(news, EdgeChanged) else news.target_id


def _pairs(deliveries: Deliveries) -> set[Pair]:
    return {(delivery.owner_id, delivery.payload.followee_id) for delivery in deliveries}


def _list_commands(
    delivery: Delivery[EdgeChanged], forward: Mapping[Pair, Edge]
) -> Iterator[Command]:
    news = delivery.payload
    edges = {news.followee_id: forward[delivery.owner_id, news.followee_id]}
    for cache, attributes in ((FOLLOWING, FOLLOWS), (QUIET, QUIET_FOLLOWS)):
        change = list_change(news.before, news.after, *split_by_attribute(edges, attributes))
        yield cache.change_command(delivery.owner_id, change)
