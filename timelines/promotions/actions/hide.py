"""Hides a campaign from a viewer for good: one transaction on the viewer's shard."""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from timelines.promotions.cache import end_hidden_of

INSERT = """
INSERT INTO promotions_hiddencampaign (owner_id, campaign_id, since_ms) VALUES (%s, %s, %s)
ON CONFLICT DO NOTHING
"""
DELETE = "DELETE FROM promotions_hiddencampaign WHERE owner_id = %s AND campaign_id = %s"


def hide_campaign(owner_id: int, campaign_id: int, clock_ms: Callable[[], int] = now_ms) -> None:
    """The viewer's home pages show it no more. The campaign must exist.

    Raises: AccountNotFound. Safety: idempotent; if the process dies before it ends the cached list,
    the promotion may be shown for five minutes. Cost: two statements and a round trip.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        execute(alias, INSERT, (owner_id, campaign_id, clock_ms()))
    # Also if it was hidden: the first request may have died here.
    end_hidden_of(owner_id)


def forget_hidden_campaign(owner_id: int, campaign_id: int) -> None:
    """Deletes a row of an account that is purged. Safety: idempotent. Cost: one statement."""
    execute(shard_of(owner_id), DELETE, (owner_id, campaign_id))
