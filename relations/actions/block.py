"""Block and unblock. A block is the forward edge's own state, so it ends a follow by being there.

The other direction lies on the blocked account's shard: mirroring the block there ends it, in the
same transaction, and from then on refuses a new one. Until then the owner's shard hides it.
"""

from collections.abc import Callable
from contextlib import suppress

from django.db import transaction
from redis.exceptions import RedisError

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from relations.actions.mirror import hide_follower, mirror_now, refresh_followers
from relations.actions.write_edge import write_edge
from relations.cache import FOLLOWERS, FOLLOWING, relationship_changes
from relations.errors import CannotBlockSelf
from relations.queries.edges import get_edge
from relations.states import Transition, step


def block(owner_id: int, target_id: int, clock_ms: Callable[[], int] = now_ms) -> bool:
    """Makes owner block target and ends the follows either way; False when it was so already.

    The owner's side is one transaction. The target's is told before the answer; where their shard
    cannot be reached the drain tells it, and until then they have no cached lists to be shown from.
    Raises: CannotBlockSelf, AccountNotFound. Safety: idempotent.
    Cost: eight statements on the owner's shard, about twelve on the target's.
    """
    if owner_id == target_id:
        raise CannotBlockSelf
    require_account(target_id)
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        is_news = _step(alias, owner_id, target_id, Transition.BLOCK, clock_ms)
        hidden = hide_follower(alias, target_id, owner_id)
    failpoint("relations.blocked")
    with suppress(RedisError):  # the end of the follow that was hidden brings them up to date
        refresh_followers(hidden)
    if not mirror_now(owner_id, target_id):
        _forget_cached(target_id, owner_id)
    return is_news


def unblock(owner_id: int, target_id: int) -> bool:
    """Ends a block; restores nothing. False when there was none.

    Raises: AccountNotFound for the owner. Safety: idempotent. Cost: as block.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        is_news = _step(alias, owner_id, target_id, Transition.UNBLOCK, now_ms)
    # Also when it is no news: an unblock before may have died here, and they may follow again.
    mirror_now(owner_id, target_id)
    return is_news


def _step(
    alias: str, owner_id: int, target_id: int, act: Transition, clock_ms: Callable[[], int]
) -> bool:
    lock_account(alias, owner_id)
    edge = get_edge(alias, owner_id, target_id)
    stepped = step(edge, act, clock_ms())
    if stepped == edge:
        return False
    write_edge(alias, owner_id, target_id, edge, stepped)
    return True


def _forget_cached(account_id: int, blocker_id: int) -> None:
    """What is cached from before a block must not outlive it: who asks is sent to the shard."""
    with suppress(RedisError):
        redis().run(
            [
                *relationship_changes([(account_id, blocker_id)]),
                *(("DEL", cache.key(account_id)) for cache in (FOLLOWING, FOLLOWERS)),
            ]
        )
