"""A crowd of accounts that follow one account, as fast as a test likes.

follow() takes some milliseconds of this machine's time for each. `follow_together` writes the same
rows as the action for many followers of one shard in one transaction: edge, count, change, bell.
"""

from collections.abc import Sequence

from django.db import transaction

from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.lanes import all_lanes, lane_of
from infra.changes.wake_up import wake
from infra.clock import now_ms
from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute

FIRST_ID = 10_000_000
LAY = """
INSERT INTO accounts_account (id, username, created_at)
SELECT id, 'crowd' || id, now() FROM unnest(%s::bigint[]) AS new (id)
"""
LOCK = "SELECT 1 FROM accounts_account WHERE id = ANY(%s::bigint[]) ORDER BY id FOR NO KEY UPDATE"
FOLLOW = """
INSERT INTO relations_forwardedge (follower_id, followee_id, attribute, revision, since_ms)
SELECT id, %s, 1, 1, %s FROM unnest(%s::bigint[]) AS follower (id)
"""
CHANGE = """
INSERT INTO changes_change (lane, kind, owner_id, payload)
SELECT lane, 'relations.edge_changed', id,
    jsonb_build_object('followee_id', %s::bigint, 'before', 0, 'after', 1)
FROM unnest(%s::smallint[], %s::bigint[]) AS change (lane, id)
"""


def lay_crowd(count: int) -> dict[str, list[int]]:
    """So many accounts, by shard, which nobody can sign in to."""
    crowd = group_by_shard(range(FIRST_ID, FIRST_ID + count))
    for alias, ids in crowd.items():
        execute(alias, LAY, (ids,))
    return crowd


def follow_together(alias: str, follower_ids: Sequence[int], followee_id: int) -> None:
    """First follows of accounts of one shard that have followed nobody yet."""
    ids = list(follower_ids)
    lanes = [lane_of(follower_id) for follower_id in ids]
    with transaction.atomic(using=alias):
        execute(alias, LOCK, (ids,))
        execute(alias, FOLLOW, (followee_id, now_ms(), ids))
        move_counts(
            alias, [CountMove(follower_id, CounterKind.FOLLOWING, +1) for follower_id in ids]
        )
        execute(alias, CHANGE, (followee_id, lanes, ids))
    for lane in all_lanes():
        if lane in lanes:
            wake(alias, lane)
