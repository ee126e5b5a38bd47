"""Changes the filters of an account: one transaction on the owner's shard."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
from django.db import transaction

from accounts.actions.lock_account import lock_account
from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.append import append_change, finish_interrupted
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.filters.account_filters import AccountFilters
from posts.filters.changes import FiltersEdited
from posts.filters.queries.filters import list_filters
from posts.filters.types import PostFilter

T = TypeVar("T")
DELETE = "DELETE FROM filters_filter WHERE owner_id = %s AND filter_id = %s"
INSERT = """
INSERT INTO filters_filter
    (owner_id, filter_id, title, contexts, action, expires_ms, keywords, statuses)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""


def edit_filters(
    owner_id: int, edit: Callable[[AccountFilters], T], clock_ms: Callable[[], int] = now_ms
) -> T:
    """What `edit` returns, after its changes of the account's filters are stored.

    Caps are exact under concurrency: the owner's row is locked. Raises: as the methods of
    FilterBook, and AccountNotFound. Cost: five statements, and two for each changed filter.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        before = {rule.filter_id: rule for rule in list_filters(owner_id)}
        book = AccountFilters(before.values(), clock_ms())
        result = edit(book)
        if book.filters == before:
            finish_interrupted(alias, owner_id)
            return result
        for filter_id in before.keys() | book.filters.keys():
            _store(alias, owner_id, before.get(filter_id), book.filters.get(filter_id))
        grown = len(book.filters) - len(before)
        move_counts(alias, [CountMove(owner_id, CounterKind.FILTERS, grown)])
        append_change(alias, owner_id, FiltersEdited())
    return result


def _store(alias: str, owner_id: int, old: PostFilter | None, new: PostFilter | None) -> None:
    if old is not None and old != new:
        execute(alias, DELETE, (owner_id, old.filter_id))
    if new is not None and old != new:
        columns = new.filter_id, new.title, list(new.contexts), new.action, new.expires_ms
        parts = [msgspec.json.encode(part).decode() for part in (new.keywords, new.statuses)]
        execute(alias, INSERT, (owner_id, *columns, *parts))


def remove_filter(owner_id: int, filter_id: int) -> None:
    """Deletes a filter with its keywords and posts. Raises: FilterNotFound."""
    edit_filters(owner_id, lambda book: book.remove(filter_id))
