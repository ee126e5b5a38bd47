"""Statements lock rows in the order of their keys, also if arguments and rows have another one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pytest
from django.db import OperationalError, transaction

from counters.actions.postpone import CausedMove, PostponedMoves, postpone, take_postponed
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.batches import _file_rows
from infra.changes.lease import lease, renew
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from posts.ids import PostId
from tests.integration.accounts.test_locks import in_thread
from tests.waiting import until
from tests.world import make_account
from timelines.recent.actions.index_posts import index_recent, remove_recent
from timelines.stores.postgres import BEGIN, PostgresStore
from timelines.stores.rows import ADD, entry_columns
from timelines.types import Entry

ALIAS = "shard0"
# Not pg_stat_activity, which stays the same within a transaction.
WAITS = """
SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
"""
LANES = (0, 1)


class Locking(NamedTuple):
    """`statement` locks two rows. `first`, `last`: lock one of them, in key order."""

    statement: Callable[[], object]
    first: str
    last: str


def take_moves() -> Locking:
    """The rows are written last key first, and are taken so too."""
    for owner_id in (2, 1):
        move = CausedMove(CountMove(owner_id, CounterKind.FOLLOWERS, 1), 7)
        execute(ALIAS, *postpone([move]))
    taken = take_postponed([PostponedMoves(owner_id, 0) for owner_id in (2, 1)])
    row = "SELECT 1 FROM counters_postponedmove WHERE owner_id = {} FOR UPDATE NOWAIT"
    return Locking(partial(fetch_all, ALIAS, *taken), row.format(1), row.format(2))


def remove_posts() -> Locking:
    posts = [PostId.at(author_id, 5) for author_id in (2, 1)]
    for post in posts:
        index_recent(ALIAS, [Entry(post, post)])
    row = "SELECT 1 FROM timelines_recentpost WHERE author_id = {} FOR UPDATE NOWAIT"
    return Locking(partial(remove_recent, ALIAS, posts), row.format(1), row.format(2))


def drop_timeline() -> Locking:
    """The head of the timeline comes before its entries."""
    reader_id = next(i for i in iter(make_account, None) if shard_of(i) == ALIAS)
    execute(ALIAS, BEGIN, (reader_id, 1))
    post = PostId.at(reader_id, 5)
    execute(ALIAS, ADD, (reader_id, *entry_columns([Entry(post, post)])))
    row = f"SELECT 1 FROM {{}} WHERE reader_id = {reader_id} FOR UPDATE NOWAIT"
    drop = partial(PostgresStore(10, 10, 10).drop, reader_id)
    return Locking(drop, row.format("timelines_head"), row.format("timelines_entry"))


def _of_leases(statement: Callable[[dict[int, int]], object]) -> Locking:
    tokens: dict[int, int] = {}
    for lane in LANES[::-1]:
        with lease(ALIAS, [lane]) as held:
            tokens |= held
    execute(ALIAS, "UPDATE changes_drainlease SET expires_at = now() + interval '1 hour'")
    row = "SELECT 1 FROM changes_drainlease WHERE lane = {} FOR UPDATE NOWAIT"
    return Locking(partial(statement, tokens), *map(row.format, LANES))


def renew_leases() -> Locking:
    return _of_leases(partial(renew, ALIAS))


def file_rows() -> Locking:
    return _of_leases(partial(_file_rows, ALIAS, ids=[]))


def _lock(statements: Sequence[str]) -> None:
    for one in statements:
        fetch_one(ALIAS, one)


@pytest.mark.parametrize(
    "prepare", [take_moves, remove_posts, drop_timeline, renew_leases, file_rows]
)
def test_while_it_waits_for_the_first_row_it_has_not_locked_the_last(world, prepare):
    locking = prepare()
    with transaction.atomic(using=ALIAS):
        _lock([locking.first])
        thread = in_thread(locking.statement)
        until(lambda: fetch_one(ALIAS, WAITS) == (1,))
        _lock([locking.last])
    thread.join()


def test_without_an_order_it_would_have_locked_the_last(world):
    """The test above can fail: a deletion without an order takes the rows as they were written."""
    locking = take_moves()
    with transaction.atomic(using=ALIAS):
        _lock([locking.first])
        thread = in_thread(partial(execute, ALIAS, "DELETE FROM counters_postponedmove"))
        until(lambda: fetch_one(ALIAS, WAITS) == (1,))
        with pytest.raises(OperationalError), transaction.atomic(using=ALIAS):
            _lock([locking.last])
    thread.join()
