"""Creating, changing and deleting account lists: one transaction on the owner's shard each.

Nothing is derived from a list, so these actions append no changes.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from relations.lists.errors import ListNotFound, TooManyLists
from relations.lists.types import ListDescription, ListOptions, RepliesPolicy

MOST_LISTS = 50
IDS = "SELECT list_id FROM lists_accountlist WHERE owner_id = %s"
INSERT = """
INSERT INTO lists_accountlist (owner_id, list_id, title, replies_policy) VALUES (%s, %s, %s, %s)
"""
UPDATE = """
UPDATE lists_accountlist
SET title = coalesce(%s, title), replies_policy = coalesce(%s, replies_policy)
WHERE owner_id = %s AND list_id = %s RETURNING list_id, title, replies_policy
"""
DELETE = "DELETE FROM {table} WHERE owner_id = %s AND list_id = %s"
DELETE_MEMBERS = DELETE.format(table="lists_listmember")
DELETE_LIST = DELETE.format(table="lists_accountlist")


def create_account_list(
    owner_id: int,
    title: str,
    replies_policy: RepliesPolicy = RepliesPolicy.LIST,
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
            max([clock_ms(), *(i + 1 for i in ids)]), title, replies_policy
        )
        execute(alias, INSERT, (owner_id, *account_list))
    return account_list


def change_account_list(owner_id: int, list_id: int, options: ListOptions) -> ListDescription:
    """Returns the list after the change. Raises: ListNotFound. Idempotent. One statement."""
    params = (options.title, options.replies_policy, owner_id, list_id)
    row = fetch_one(shard_of(owner_id), UPDATE, params)
    if row is None:
        raise ListNotFound
    return ListDescription(row[0], row[1], RepliesPolicy(row[2]))


def delete_account_list(owner_id: int, list_id: int) -> None:
    """Deletes a list and its members.

    Raises: ListNotFound, also for a list that was deleted before. Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        execute(alias, DELETE_MEMBERS, (owner_id, list_id))
        if not execute(alias, DELETE_LIST, (owner_id, list_id)):
            raise ListNotFound
