"""What relations do with changes of edges: the other side, its count, and the cached lists.

The follower's own list comes first: a followee's shard out of reach must not hold it up.
"""

from collections.abc import Iterator, Mapping, Sequence

from counters.cache import refresh_account_counts
from infra.caching.client import Command, redis
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from relations.actions.mirror import (
    Pair,
    by_followee_shard,
    mirror_on_shard,
    read_forward,
    refresh_followers,
)
from relations.cache import FOLLOWING, FOLLOWS, QUIET, QUIETLY, list_change, split
from relations.changes import EdgeChanged
from relations.queries.lists import forget_first_pages
from relations.types import Edge

Deliveries = Sequence[Delivery[EdgeChanged]]


@consumes(EdgeChanged, at_once=True)
def refresh_following_lists(alias: str, deliveries: Deliveries) -> None:
    """Brings the followers' own following lists and counts up to the rows."""
    forward = read_forward(alias, _pairs(deliveries))
    redis().run([c for delivery in deliveries for c in _list_commands(delivery, forward)])
    forget_first_pages(delivery.owner_id for delivery in deliveries)
    refresh_account_counts(delivery.owner_id for delivery in deliveries)


@consumes(EdgeChanged)
def mirror_backward_edges(alias: str, deliveries: Deliveries) -> None:
    """Brings backward edges, follower counts and followers lists up to the forward edges.

    Safety: idempotent and commutative: what is written is the forward edge as it is now, and only
    where its revision is newer. Caches are refreshed even when no row had to change, since an
    earlier run may have died between the two.
    """
    forward = read_forward(alias, _pairs(deliveries))
    groups = by_followee_shard(forward)
    mirrored = [mirror_on_shard(target, group) for target, group in groups.items()]
    failpoint("relations.mirrored")
    # After all rows: with Redis away the truth at least is everywhere.
    for followees in mirrored:
        refresh_followers(followees)


def _pairs(deliveries: Deliveries) -> set[Pair]:
    return {(delivery.owner_id, delivery.payload.followee_id) for delivery in deliveries}


def _list_commands(
    delivery: Delivery[EdgeChanged], forward: Mapping[Pair, Edge]
) -> Iterator[Command]:
    news = delivery.payload
    edges = {news.followee_id: forward[delivery.owner_id, news.followee_id]}
    for cache, attributes in ((FOLLOWING, FOLLOWS), (QUIET, QUIETLY)):
        change = list_change(news.before, news.after, *split(edges, attributes))
        yield cache.change_command(delivery.owner_id, change)
