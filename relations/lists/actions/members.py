"""Adding and removing members of account lists, on the owner's shard."""

from collections.abc import Collection

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from relations.changes import ExclusiveMembersChanged
from relations.lists.errors import NotFollowed, TooManyMembers
from relations.lists.queries.lists import MEMBER_FOLLOW, get_account_list
from relations.queries.edge_rows import FORWARD

MOST_MEMBERS = 500
DELETE_ENDED = f"""
DELETE FROM lists_listmember WHERE owner_id = %s AND list_id = %s
    AND NOT EXISTS (SELECT 1 FROM {FORWARD.table} WHERE {MEMBER_FOLLOW})
"""  # noqa: S608
# Existing members are written again without a change: the number of rows tells whether the owner
# follows all of the accounts.
INSERT = f"""
INSERT INTO lists_listmember (owner_id, list_id, account_id, since_ms)
SELECT follower_id, %s, followee_id, since_ms FROM {FORWARD.table}
WHERE follower_id = %s AND followee_id = ANY(%s::bigint[]) AND {FORWARD.live}
ON CONFLICT (owner_id, list_id, account_id) DO UPDATE SET since_ms = excluded.since_ms
"""  # noqa: S608
COUNT = "SELECT count(*) FROM lists_listmember WHERE owner_id = %s AND list_id = %s"
DELETE = """
DELETE FROM lists_listmember
WHERE owner_id = %s AND list_id = %s AND account_id = ANY(%s::bigint[])
"""


def add_members(owner_id: int, list_id: int, account_ids: Collection[int]) -> None:
    """Adds all of these accounts to a list, or none; existing members stay.

    Raises: ListNotFound; NotFollowed, when the owner does not follow one of them;
    TooManyMembers (exact under concurrency: the owner's row is locked). Safety: idempotent.
    Cost: five statements, and one for an exclusive list.
    """
    alias, wanted = shard_of(owner_id), set(account_ids)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        account_list = get_account_list(owner_id, list_id)
        execute(alias, DELETE_ENDED, (owner_id, list_id))
        if execute(alias, INSERT, (list_id, owner_id, list(wanted))) < len(wanted):
            raise NotFollowed
        row = fetch_one(alias, COUNT, (owner_id, list_id))
        if row is not None and row[0] > MOST_MEMBERS:
            raise TooManyMembers
        if account_list.exclusive:
            append_change(alias, owner_id, ExclusiveMembersChanged(tuple(wanted)))


def remove_members(owner_id: int, list_id: int, account_ids: Collection[int]) -> None:
    """Removes accounts from a list; accounts that are no members are ignored.

    Raises: ListNotFound, AccountNotFound. Safety: idempotent. Cost: three statements, and one for
    an exclusive list.
    """
    alias, unwanted = shard_of(owner_id), set(account_ids)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        account_list = get_account_list(owner_id, list_id)
        execute(alias, DELETE, (owner_id, list_id, list(unwanted)))
        if account_list.exclusive:
            append_change(alias, owner_id, ExclusiveMembersChanged(tuple(unwanted)))
