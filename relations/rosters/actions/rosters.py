"""Making, changing and deleting rosters: a transaction on the owner's shard each.

Nothing is derived from a roster, so no change tells of them.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from relations.rosters.errors import RosterNotFound, TooManyRosters
from relations.rosters.types import RepliesPolicy, Roster, RosterWish

MOST_ROSTERS = 50
IDS = "SELECT roster_id FROM rosters_roster WHERE owner_id = %s"
INSERT = """
INSERT INTO rosters_roster (owner_id, roster_id, title, replies_policy) VALUES (%s, %s, %s, %s)
"""
UPDATE = """
UPDATE rosters_roster
SET title = coalesce(%s, title), replies_policy = coalesce(%s, replies_policy)
WHERE owner_id = %s AND roster_id = %s RETURNING roster_id, title, replies_policy
"""
DELETE = "DELETE FROM {table} WHERE owner_id = %s AND roster_id = %s"
DELETE_MEMBERS = DELETE.format(table="rosters_member")
DELETE_ROSTER = DELETE.format(table="rosters_roster")


def create_roster(
    owner_id: int,
    title: str,
    replies_policy: RepliesPolicy = RepliesPolicy.LIST,
    clock_ms: Callable[[], int] = now_ms,
) -> Roster:
    """Makes a roster with nobody on it; twice makes two.

    Raises: TooManyRosters (exact under concurrency: the owner's row is locked), AccountNotFound.
    Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        ids = [row[0] for row in fetch_all(alias, IDS, [owner_id])]
        if len(ids) >= MOST_ROSTERS:
            raise TooManyRosters
        roster = Roster(max([clock_ms(), *(i + 1 for i in ids)]), title, replies_policy)
        execute(alias, INSERT, (owner_id, *roster))
    return roster


def change_roster(owner_id: int, roster_id: int, wish: RosterWish) -> Roster:
    """The roster as it is then. Raises: RosterNotFound. Safety: idempotent. Cost: one statement."""
    params = (wish.title, wish.replies_policy, owner_id, roster_id)
    row = fetch_one(shard_of(owner_id), UPDATE, params)
    if row is None:
        raise RosterNotFound
    return Roster(row[0], row[1], RepliesPolicy(row[2]))


def delete_roster(owner_id: int, roster_id: int) -> None:
    """Deletes a roster and who is on it, together.

    Raises: RosterNotFound, also for one that was deleted already. Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        execute(alias, DELETE_MEMBERS, (owner_id, roster_id))
        if not execute(alias, DELETE_ROSTER, (owner_id, roster_id)):
            raise RosterNotFound
