"""A move while web processes read and write through pools, whose clients stay connected."""

import json
import threading
from contextlib import ExitStack
from functools import partial

import psycopg
import pytest
from django.core.management import call_command

from infra.sharding.buckets import shard_of
from operations.moves.sessions import end_idle_sessions, read_clock
from tests.api_process import ApiProcess
from tests.callers import token_of
from tests.integration.moves.writers import Writer, drain_patiently, make_friends
from tests.moving import (
    SOURCE,
    TARGET,
    compare_shards,
    list_leftovers,
    move,
    repeating,
)
from tests.pgbouncer import ask_pgbouncer, running_pgbouncer
from tests.pooling import naming_pools
from tests.private_world import catch_up
from tests.waiting import until
from tests.world import forget_keys, publish

pytestmark = pytest.mark.slow
POLL_S = 0.01


@pytest.fixture
def pools(pgbouncer, moving):
    """A mover has the settings of web processes, and connects directly."""
    with running_pgbouncer(pgbouncer, moving, size=4) as environment, naming_pools(environment):
        yield environment


@pytest.fixture
def movers(moving):
    return make_friends("hello")


def test_a_quarter_moves_there_and_back_under_load(pools, movers):
    """Each writer reads what it has just written: a read of the shard before would miss it."""
    with ExitStack() as stack:
        writers = [
            Writer(account, token_of(account), stack.enter_context(ApiProcess(**pools)))
            for account in movers
        ]
        with repeating(*(writer.act for writer in writers), drain_patiently) as errors:
            move()
            call_command("moves", "undo")
            move()
            threading.Event().wait(0.3)
        assert errors == []
        served = {row[0]: row[2] for row in ask_pgbouncer(pools, "SHOW STATS")}
        assert min(served[SOURCE], served[TARGET]) > 0
        catch_up()
        assert compare_shards() > len(movers) // 2
        call_command("moves", "complete")
    assert {shard_of(mover) for mover in movers[:2]} == {TARGET}
    assert list_leftovers() == []


def test_a_process_that_only_reads_learns_of_a_move(pools, movers):
    """No guard of a move refuses what it does, and the shard before has no rows any more."""
    mover = movers[0]
    path = f"/api/v1/accounts/{mover}/statuses"
    with ApiProcess(**pools) as reader:
        token = token_of(movers[2])
        before = json.loads(reader.do("GET", token, path)[1])
        move()
        call_command("moves", "complete")
        published = publish(mover, "on the other shard")
        forget_keys()
        status, text = reader.do("GET", token, path)
    assert status == 200
    ids = [post["id"] for post in json.loads(text)]
    assert ids == [published.public, *(post["id"] for post in before)]


def test_a_transaction_from_before_is_waited_for_and_no_session_of_a_pool_ends(pools, moving):
    url = pools["POOLED_SHARD_DATABASE_URLS"].split(",")[0]
    with psycopg.connect(url) as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
        before = read_clock(SOURCE)
        assert end_idle_sessions(SOURCE, before) == 1
        client.commit()
        until(partial(_are_gone, before))
        assert client.execute("SELECT 1").fetchone() == (1,)


def _are_gone(before):
    return end_idle_sessions(SOURCE, before) == 0
