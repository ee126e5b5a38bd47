"""Servers whose shards can move buckets, and what both sides of a move must have."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from pytest_django import DjangoDbBlocker

from infra.sharding.buckets import BUCKET_COUNT
from infra.sharding.map_copy import MapCopy
from infra.sharding.sql import execute, fetch_all
from lab.services import RunningServices, running_services, throw_away_services
from operations.moves.compare import compare_all
from operations.moves.models import Move
from operations.moves.rows import buckets_of
from operations.moves.types import MoveRef
from tests.migrated_data import provide_migrated_data
from tests.private_world import using_servers, whole
from tests.world import make_account
from timelines.increments.queries import forget_increments
from timelines.promotions.blend import forget_promotions

LOGICAL = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
SOURCE, TARGET = "shard0", "shard1"
# Of a quarter of the buckets of SOURCE.
MASK = 15
LEFTOVERS = """
SELECT slot_name::text FROM pg_replication_slots UNION ALL SELECT pubname::text FROM pg_publication
UNION ALL SELECT subname::text FROM pg_subscription
UNION ALL SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'tideline%%'
UNION ALL SELECT 'guard ' || move FROM moves_guard UNION ALL SELECT 'mark ' || move FROM moves_mark
"""


@pytest.fixture(scope="module")
def logical_servers(django_db_blocker: DjangoDbBlocker) -> Iterator[RunningServices]:
    """This process on servers that can move buckets, for the tests of a module."""
    start = partial(running_services, durable=False, postgres_settings=LOGICAL)
    with (
        throw_away_services(start, prepare=provide_migrated_data) as services,
        django_db_blocker.unblock(),
        using_servers(services),
    ):
        yield services


@pytest.fixture
def moving(logical_servers: RunningServices) -> Iterator[RunningServices]:
    """Its servers, as below."""
    with moving_on(logical_servers):
        yield logical_servers


@contextmanager
def moving_on(services: RunningServices) -> Iterator[None]:
    """The servers whole and empty. An unfinished move of the test is ended after it."""
    with whole(services):
        _restore_map()
        yield
        end_moves()
        forget_increments()
        forget_promotions()


def move(*arguments: str) -> None:
    """Begins a move of a quarter of SOURCE to TARGET."""
    call_command("moves", "start", "--from", SOURCE, "--to", TARGET, "--share", "1/4", *arguments)


def end_moves() -> None:
    """Nothing of a move is left, and SOURCE has its buckets."""
    if last := Move.objects.filter(is_finished=False).first():
        if last.epoch is None:
            call_command("moves", "abort")
        else:
            call_command("moves", "resume")
            if Move.objects.filter(is_finished=False).exists():
                call_command("moves", "undo")


def make_movers(count: int) -> list[int]:
    """Accounts that a move takes along."""
    movers: list[int] = []
    while len(movers) < count:
        account = make_account()
        if account & MASK == 0:
            movers.append(account)
    return movers


def compare_shards() -> int:
    """Raises if a row of the last move differs on its shards. Returns how many owners have rows."""
    last = Move.objects.latest("pk")
    ref = MoveRef(last.pk, last.token, last.source, last.target, buckets_of(last))
    line, busy = compare_all(ref)
    assert busy == {}
    return int(str(line).split()[0].replace(",", ""))


def list_leftovers() -> list[str]:
    return [name for alias in (SOURCE, TARGET) for (name,) in fetch_all(alias, LEFTOVERS)]


@contextmanager
def repeating(*calls: Callable[[], Any]) -> Iterator[list[BaseException]]:
    """Each call is repeated in a thread of its own. The errors are in the list after the block."""
    stop, errors = threading.Event(), list[BaseException]()

    def repeat(call: Callable[[], Any]) -> None:
        try:
            while not stop.is_set():
                call()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _restore_map() -> None:
    """A completed move of the test before has left its buckets on TARGET."""
    sql = "UPDATE sharding_bucket SET alias = 'shard' || bucket %% 4, moved_at = NULL"
    execute("default", sql.replace("%%", "%"), None)
    assert BUCKET_COUNT % 4 == 0
    MapCopy.doubt()
