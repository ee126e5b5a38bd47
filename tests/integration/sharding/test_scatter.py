"""Several shards at once: bounded threads, errors after all ended, dead connections replaced."""

import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from django.db import OperationalError, connections

from infra.sharding import scatter as module
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_one
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S, until

SHARDS = ["shard0", "shard1", "shard2", "shard3"]
PID = "SELECT pg_backend_pid()"
OTHERS = """
FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def ask(alias):
    return fetch_one(alias, PID)[0]


def pids():
    return scatter({alias: partial(ask, alias) for alias in SHARDS})


def end_sessions(alias):
    """All of them: what is left of the connections is dead, and does not know it yet.

    PostgreSQL only sends a signal to each session. One that ends later would fail a later query.
    """
    with psycopg.connect(**connections[alias].get_connection_params(), autocommit=True) as other:
        other.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}")
        until(lambda: other.execute(f"SELECT count(*) {OTHERS}").fetchone() == (0,))


def test_answers_by_alias(world):
    named = scatter({a: partial(fetch_one, a, "SHOW port") for a in SHARDS})
    assert list(named) == SHARDS
    ports = [connections[alias].settings_dict["PORT"] for alias in SHARDS]
    assert [port for (port,) in named.values()] == ports


def test_nothing_to_ask():
    assert scatter({}) == {}


def test_one_shard_is_asked_on_the_callers_own_thread():
    assert scatter({"shard2": threading.get_ident}) == {"shard2": threading.get_ident()}


def test_shards_are_asked_at_the_same_time():
    together = threading.Barrier(len(SHARDS), timeout=PATIENCE_S)
    assert sorted(scatter(dict.fromkeys(SHARDS, together.wait)).values()) == [0, 1, 2, 3]


def test_threads_are_bounded_and_kept(world, settings):
    assert failures(run_together([pids] * 30)) == []
    for alias in SHARDS[1:]:
        name = re.compile(rf"scatter-{alias}_\d+")  # a replica has threads of its own
        mine = [thread for thread in threading.enumerate() if name.fullmatch(thread.name)]
        assert 0 < len(mine) <= settings.SCATTER_THREADS


def test_first_error_is_raised_when_all_have_ended():
    ended, failed = [], threading.Event()

    def fail():
        failed.set()
        raise LookupError("shard0")

    def go_on(alias):
        assert failed.wait(PATIENCE_S)
        ended.append(alias)

    with pytest.raises(LookupError, match="shard0"):
        scatter({"shard0": fail} | {alias: partial(go_on, alias) for alias in SHARDS[1:]})
    assert sorted(ended) == SHARDS[1:]


def test_error_on_another_thread_is_raised_as_it_is():
    def fail():
        raise LookupError("shard3")

    with pytest.raises(LookupError, match="shard3"):
        scatter({"shard0": int, "shard3": fail})


def test_shard_that_is_down_fails_its_own_calls_only(world, monkeypatch):
    pids()
    end_sessions("shard1")
    monkeypatch.setitem(connections["shard1"].settings_dict, "HOST", "/nowhere")
    with pytest.raises(OperationalError):
        pids()
    others = [alias for alias in SHARDS if alias != "shard1"]
    assert len(scatter({alias: partial(ask, alias) for alias in others})) == 3
    monkeypatch.undo()
    connections["shard1"].close()
    assert len(pids()) == 4


def test_shard_that_hangs_keeps_no_other_waiting(settings):
    """All its threads are stuck; calls for other shards have theirs."""
    free = threading.Event()
    stuck = threading.Barrier(settings.SCATTER_THREADS + 1, timeout=PATIENCE_S)

    def hang():
        stuck.wait()
        free.wait(PATIENCE_S)

    calls = {"shard0": int, "shard1": hang}
    with ThreadPoolExecutor(settings.SCATTER_THREADS + 1) as callers:
        hung = [callers.submit(scatter, calls) for _ in range(settings.SCATTER_THREADS)]
        try:
            stuck.wait()
            other = callers.submit(scatter, {"shard0": int, "shard2": int})
            assert other.result(PATIENCE_S) == {"shard0": 0, "shard2": 0}
            assert not any(call.done() for call in hung)
        finally:
            free.set()


def test_connection_that_broke_is_replaced(world, settings):
    """Each thread of the pool has its own; after a restart of the shard all of them are dead."""
    alone = {"shard0": int, "shard1": partial(ask, "shard1")}
    before = scatter(alone)["shard1"]
    end_sessions("shard1")
    for _ in range(settings.SCATTER_THREADS):
        assert scatter(alone)["shard1"] != before
    connections["shard1"].close()


def test_forked_process_asks_with_threads_of_its_own(world):
    """Its parent's pool has no threads there: a call would wait for ever."""
    scatter({"shard0": int, "shard1": int})
    assert module._threads("shard1")._threads
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(scatter({"shard0": int, "shard1": lambda: 7})["shard1"])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
