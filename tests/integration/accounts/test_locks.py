"""The owner's lock.

The places for hashes on a machine: bounded over processes, and free when a process dies.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Thread

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.db import OperationalError, connections, transaction

from accounts import password_hasher
from accounts.actions.lock_account import lock_account, lock_accounts
from accounts.errors import AccountNotFound, PasswordsBusy
from accounts.password_hasher import HashPlaces, PasswordHasher, hash_like_a_web_server, most_hashes
from infra.changes.errors import NotInTransaction
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from tests.waiting import PATIENCE_S, until
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


HASHERS = ["accounts.password_hasher.PasswordHasher"]
PLACES = "password-hashes"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HashPlaces:
    """Two, and a short wait."""
    monkeypatch.setattr(password_hasher, "WAIT_S", 0.05)
    return HashPlaces(tmp_path / PLACES, 2)


@pytest.fixture
def web(
    tmp_path: Path, settings: object, places: HashPlaces, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HashPlaces]:
    """This process hashes like a web server, quickly."""
    settings.PASSWORD_HASHERS = HASHERS  # type: ignore[attr-defined]
    settings.RUNTIME_DIR, settings.PASSWORD_HASHES = str(tmp_path), 2  # type: ignore[attr-defined]
    monkeypatch.setattr(PasswordHasher, "iterations", 1)
    monkeypatch.setattr(password_hasher._HashLimit, "is_on", False)
    password_hasher._places.cache_clear()
    hash_like_a_web_server()
    yield places
    password_hasher._places.cache_clear()


def die_in_a_place(places: HashPlaces) -> None:
    """In another process, which is killed when it has one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with places.taking():
            os.write(writing, b".")
            signal.pause()
    os.read(reading, 1)
    try:
        with places.taking(), pytest.raises(PasswordsBusy), places.taking():
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for end in (reading, writing):
            os.close(end)


def is_free(places: HashPlaces) -> bool:
    try:
        with places.taking():
            return True
    except PasswordsBusy:
        return False


def test_there_are_so_many_and_each_is_given_back(places: HashPlaces) -> None:
    before = password_hasher.REFUSED._value.get()
    for _ in range(2):
        with ExitStack() as taken:
            for _ in range(2):
                taken.enter_context(places.taking())
            assert not is_free(places)
        assert is_free(places)
    assert password_hasher.REFUSED._value.get() == before + 2


def test_a_hash_that_fails_gives_its_place_back(places: HashPlaces) -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match="salt"), places.taking():
            raise ValueError("salt")


def test_all_processes_share_them_and_one_that_dies_leaves_its_own(places: HashPlaces) -> None:
    for _ in range(3):
        die_in_a_place(places)
    with places.taking(), places.taking():
        assert not is_free(places)


def test_who_waits_gets_the_place_that_becomes_free(
    places: HashPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_hasher, "WAIT_S", 30.0)
    with ExitStack() as taken:
        for _ in range(2):
            taken.enter_context(places.taking())
        monkeypatch.setattr(password_hasher.time, "sleep", lambda _: taken.close())
        assert is_free(places)


def test_without_the_folder_people_sign_in_all_the_same(tmp_path: Path) -> None:
    (tmp_path / PLACES).write_text("a file is in its place")
    places = HashPlaces(tmp_path / PLACES, 1)
    with places.taking(), places.taking():
        pass


def test_a_web_server_hashes_in_a_place_and_a_command_does_not(
    web: HashPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = password_hasher.HASHING._sum.get
    before, encoded = count(), make_password("a fine word")
    assert encoded.startswith("pbkdf2_sha256$1$") and check_password("a fine word", encoded)
    assert count() > before
    with web.taking(), web.taking():
        with pytest.raises(PasswordsBusy):
            check_password("a fine word", encoded)
        monkeypatch.setattr(password_hasher._HashLimit, "is_on", False)
        assert check_password("a fine word", encoded)
    until(lambda: is_free(web))


@pytest.mark.parametrize(("processors", "most"), [(1, 1), (2, 1), (3, 1), (8, 4)])
def test_half_of_the_processors_may_hash(
    processors: int, most: int, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    assert most_hashes() == most
    settings.PASSWORD_HASHES = 7  # type: ignore[attr-defined]
    assert most_hashes() == 7
