"""Block and unblock. A block is a state of the forward edge, so it replaces the owner's own follow.

The opposite follow is on the blocked account's shard. Mirroring the block there ends that follow in
the same transaction, and refuses a new one from then on. Until then the owner's shard hides it.
"""

from collections.abc import Callable, Sequence

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.caching.client import redis
from infra.changes.append import finish_interrupted
from infra.changes.failpoints import failpoint
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from relations.actions.mirror import hide_follower, mirror_now, refresh_lists
from relations.actions.write_edge import write_edge
from relations.cache import FOLLOWERS, FOLLOWING, relationship_changes
from relations.errors import CannotBlockSelf
from relations.queries.edges import Pair, get_edge
from relations.states import Transition, step


def block(owner_id: int, target_id: int, clock_ms: Callable[[], int] = now_ms) -> bool:
    """Makes owner block target and ends both follows; False when owner blocked it already.

    The owner's side is one transaction. The block is mirrored before the answer. When the target's
    shard is unreachable, the drain mirrors it later, and the target's cached lists are dropped.
    Raises: CannotBlockSelf, AccountNotFound. Safety: idempotent.
    Cost: eight statements on the owner's shard, about twelve on the target's.
    """
    if owner_id == target_id:
        raise CannotBlockSelf
    require_account(target_id)
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        is_changed = _step(alias, owner_id, target_id, Transition.BLOCK, clock_ms)
        hidden = hide_follower(alias, target_id, owner_id)
    failpoint("relations.blocked")
    redis().send(refresh_lists, items=[hidden])
    if not mirror_now(owner_id, target_id):
        redis().send(_drop_cached, items=[(target_id, owner_id)])
    return is_changed


def unblock(owner_id: int, target_id: int) -> bool:
    """Ends a block; False when there was none. Ended follows do not come back.

    Raises: AccountNotFound for the owner. Safety: idempotent. Cost: as block.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        is_changed = _step(alias, owner_id, target_id, Transition.UNBLOCK, now_ms)
    # Also without a change: an earlier unblock may have died here, and the target may follow again.
    mirror_now(owner_id, target_id)
    return is_changed


def _step(
    alias: str, owner_id: int, target_id: int, transition: Transition, clock_ms: Callable[[], int]
) -> bool:
    lock_account(alias, owner_id)
    edge = get_edge(alias, owner_id, target_id)
    changed = step(edge, transition, clock_ms())
    if changed == edge:
        finish_interrupted(alias, owner_id)
        return False
    write_edge(alias, owner_id, target_id, edge, changed)
    return True


def _drop_cached(blocks: Sequence[Pair]) -> None:
    """Makes the next reads of blocked accounts use their shard, which lacks the block so far.

    `blocks`: blocked account and blocker.
    """
    caches = FOLLOWING, FOLLOWERS
    drops = [cache.drop_command(account_id) for account_id, _ in blocks for cache in caches]
    redis().run([*relationship_changes(blocks), *drops])
