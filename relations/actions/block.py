"""Block and unblock. A block is the forward edge's own state, so it ends a follow by being there.

The other direction lies on the blocked account's shard: mirroring the block there ends it, in the
same transaction, and from then on refuses a new one.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.sharding.buckets import shard_of
from relations.actions.edges import read_edge, write_edge
from relations.actions.follow import now_ms
from relations.actions.mirror import mirror_at_once
from relations.errors import CannotBlockSelf
from relations.states import Act, step


def block(owner_id: int, target_id: int, clock_ms: Callable[[], int] = now_ms) -> bool:
    """Makes owner block target and ends the follows either way; False when it was so already.

    The other shard is told before the answer; where it cannot be reached the drain does it.
    Raises: CannotBlockSelf, AccountNotFound. Safety: idempotent.
    Cost: five statements on the owner's shard, about ten on the target's.
    """
    if owner_id == target_id:
        raise CannotBlockSelf
    require_account(target_id)
    is_news = _step(owner_id, target_id, Act.BLOCK, clock_ms)
    mirror_at_once(owner_id, target_id)
    # Their follow ended there just now: tell the owner's side, who must not see them as a follower.
    mirror_at_once(target_id, owner_id)
    return is_news


def unblock(owner_id: int, target_id: int) -> bool:
    """Ends a block; restores nothing. False when there was none.

    Raises: AccountNotFound for the owner. Safety: idempotent. Cost: as block.
    """
    is_news = _step(owner_id, target_id, Act.UNBLOCK, now_ms)
    if is_news:
        mirror_at_once(owner_id, target_id)
    return is_news


def _step(owner_id: int, target_id: int, act: Act, clock_ms: Callable[[], int]) -> bool:
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        edge = read_edge(alias, owner_id, target_id)
        stepped = step(edge, act, clock_ms())
        if stepped == edge:
            return False
        write_edge(alias, owner_id, target_id, edge, stepped)
    return True
