"""The owner's lock."""

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from django.db import OperationalError, connections, transaction

from accounts.actions.lock_account import lock_account, lock_accounts
from accounts.errors import AccountNotFound
from infra.changes.errors import NotInTransaction
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from tests.waiting import PATIENCE_S
from tests.world import make_account


def in_thread(work: Callable[[], None]) -> Thread:
    """Runs work on a thread of its own, whose database connections end with it."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = Thread(target=run)
    thread.start()
    return thread


def test_nobody_else_gets_the_lock_until_the_transaction_ends(world: None) -> None:
    account_id = make_account()
    alias = shard_of(account_id)
    refused, asked, released = [], Barrier(2, timeout=PATIENCE_S), Barrier(2, timeout=PATIENCE_S)

    def rival() -> None:
        execute(alias, "SET lock_timeout = '50ms'")
        try:
            with transaction.atomic(using=alias):
                lock_account(alias, account_id)
        except OperationalError as error:
            refused.append(error)
        asked.wait()
        released.wait()
        with transaction.atomic(using=alias):
            lock_account(alias, account_id)

    with transaction.atomic(using=alias):
        lock_account(alias, account_id)
        thread = in_thread(rival)
        asked.wait()
    released.wait()
    thread.join()
    assert len(refused) == 1


def test_several_locks_are_taken_in_one_order(world: None) -> None:
    first = make_account()
    alias = shard_of(first)
    second = next(i for i in iter(make_account, None) if shard_of(i) == alias)
    failures: list[Exception] = []

    def lock(ids: list[int]) -> None:
        try:
            for _ in range(50):
                with transaction.atomic(using=alias):
                    lock_accounts(alias, ids)
        except OperationalError as deadlock:
            failures.append(deadlock)

    threads = [in_thread(lambda ids=ids: lock(ids)) for ids in ([first, second], [second, first])]
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_lock_needs_an_account_and_a_transaction(world: None) -> None:
    account_id = make_account()
    alias = shard_of(account_id)
    with pytest.raises(NotInTransaction):
        lock_account(alias, account_id)
    with transaction.atomic(using=alias):
        lock_accounts(alias, [account_id, account_id + 1024])
        with pytest.raises(AccountNotFound):
            lock_account(alias, account_id + 1024)
