"""Follow, unfollow, remove a follower: one transaction on the follower's shard each."""

import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.db import transaction
from redis.exceptions import RedisError

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.changes.errors import UNREACHABLE
from infra.sharding.buckets import shard_of
from relations.actions.edges import read_edge, write_edge
from relations.actions.mirror import mirror_on_shard, refresh_followers
from relations.errors import CannotFollowSelf, FollowCapReached
from relations.types import Attribute, Edge

log = structlog.get_logger()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def follow(follower_id: int, followee_id: int, clock_ms: Callable[[], int] = now_ms) -> bool:
    """Makes follower follow followee; False when it did already.

    Raises: CannotFollowSelf, AccountNotFound, FollowCapReached (exact under concurrency: the
    follower's row is locked). Safety: idempotent. Cost: five statements in one transaction on the
    follower's shard; the followee's side follows by the drain.
    """
    if follower_id == followee_id:
        raise CannotFollowSelf
    require_account(followee_id)
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = read_edge(alias, follower_id, followee_id)
        if edge.attribute is Attribute.FOLLOW:
            return False
        started = Edge(Attribute.FOLLOW, edge.revision + 1, clock_ms())
        following = write_edge(alias, follower_id, followee_id, started, +1)
        if following.value > settings.FOLLOW_CAP:
            raise FollowCapReached
    return True


def unfollow(follower_id: int, followee_id: int) -> bool:
    """Ends the edge follower → followee; False when there was none.

    Raises: AccountNotFound for the follower. Safety: idempotent. Cost: as follow.
    """
    alias = shard_of(follower_id)
    with transaction.atomic(using=alias):
        lock_account(alias, follower_id)
        edge = read_edge(alias, follower_id, followee_id)
        if edge.attribute is Attribute.NONE:
            return False
        ended = Edge(Attribute.NONE, edge.revision + 1, edge.since_ms)
        write_edge(alias, follower_id, followee_id, ended, -1)
    return True


def remove_follower(followee_id: int, follower_id: int) -> bool:
    """Ends follower → followee on the followee's wish; False when it had ended already.

    The actor is the followee, so their side is mirrored before the answer, also when the follower
    left by themselves and the drain has not told the followee yet.
    Raises: AccountNotFound for the follower. Safety: idempotent; the drain mirrors again.
    Cost: unfollow, and five statements on the followee's shard.
    """
    is_news = unfollow(follower_id, followee_id)
    edge = read_edge(shard_of(follower_id), follower_id, followee_id)
    if edge.revision:
        _mirror_at_once(follower_id, followee_id, edge)
    return is_news


def _mirror_at_once(follower_id: int, followee_id: int, edge: Edge) -> None:
    """The edge has ended whatever happens here; what fails is done by the drain."""
    try:
        mirrored = mirror_on_shard(shard_of(followee_id), {(follower_id, followee_id): edge})
        refresh_followers(mirrored)
    except (*UNREACHABLE, RedisError) as error:
        log.warning("relations.mirror_left_to_drain", account=followee_id, error=str(error))
