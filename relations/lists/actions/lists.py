"""Creating, changing and deleting account lists: one transaction on the owner's shard each.

Only the relationships with members of exclusive lists are cached. So these actions append a change
when an account comes onto an exclusive list, or leaves one.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change, finish_interrupted
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.changes import ExclusiveMembersChanged
from relations.lists.errors import TooManyLists
from relations.lists.queries.lists import COLUMNS, describe, get_account_list, get_list_members
from relations.lists.types import ListDescription, ListOptions, RepliesPolicy

MOST_LISTS = 50
IDS = "SELECT list_id FROM lists_accountlist WHERE owner_id = %s"
INSERT = f"""
INSERT INTO lists_accountlist (owner_id, {COLUMNS}) VALUES (%s, %s, %s, %s, %s)
"""  # noqa: S608
UPDATE = f"""
UPDATE lists_accountlist
SET title = coalesce(%s, title), replies_policy = coalesce(%s, replies_policy),
    exclusive = coalesce(%s, exclusive)
WHERE owner_id = %s AND list_id = %s RETURNING {COLUMNS}
"""  # noqa: S608
DELETE = "DELETE FROM {table} WHERE owner_id = %s AND list_id = %s"
DELETE_MEMBERS = DELETE.format(table="lists_listmember")
DELETE_LIST = DELETE.format(table="lists_accountlist")


def create_account_list(
    owner_id: int,
    title: str,
    replies_policy: RepliesPolicy = RepliesPolicy.LIST,
    exclusive: bool = False,
    clock_ms: Callable[[], int] = now_ms,
) -> ListDescription:
    """Creates an empty list; two calls create two lists.

    Raises: TooManyLists (exact under concurrency: the owner's row is locked), AccountNotFound.
    Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        ids = [row[0] for row in fetch_all(alias, IDS, [owner_id])]
        if len(ids) >= MOST_LISTS:
            raise TooManyLists
        account_list = ListDescription(
            max([clock_ms(), *(i + 1 for i in ids)]), title, replies_policy, exclusive
        )
        execute(alias, INSERT, (owner_id, *account_list))
    return account_list


def change_account_list(owner_id: int, list_id: int, options: ListOptions) -> ListDescription:
    """Returns the list after the change. Raises: ListNotFound, AccountNotFound. Idempotent.

    Cost: three statements, and one for what an earlier call may not have finished; two more if the
    list becomes exclusive, or ceases to be.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        before = get_account_list(owner_id, list_id)
        params = (options.title, options.replies_policy, options.exclusive, owner_id, list_id)
        after = describe(*fetch_all(alias, UPDATE, params)[0])
        if after.exclusive != before.exclusive:
            members = get_list_members(owner_id, list_id).account_ids
            append_change(alias, owner_id, ExclusiveMembersChanged(tuple(members)))
        else:
            finish_interrupted(alias, owner_id)
    return after


def delete_account_list(owner_id: int, list_id: int) -> None:
    """Deletes a list and its members.

    Raises: ListNotFound, also for a list that was deleted before. Cost: five statements, and one
    for an exclusive list.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        deleted = get_account_list(owner_id, list_id)
        members = get_list_members(owner_id, list_id).account_ids
        execute(alias, DELETE_MEMBERS, (owner_id, list_id))
        execute(alias, DELETE_LIST, (owner_id, list_id))
        if deleted.exclusive and members:
            append_change(alias, owner_id, ExclusiveMembersChanged(tuple(members)))
