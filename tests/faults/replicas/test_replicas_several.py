"""A shard with two replicas: both are read, and one that is ill leaves the reads to the other."""

import json
import re
import time
from collections import Counter
from contextlib import ExitStack, suppress
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from infra.sharding import replicas
from infra.sharding.buckets import shard_of
from infra.sharding.replica import READS
from infra.sharding.replicas import read_replica_or_shard, replicas_of
from infra.sharding.sql import fetch_one
from posts.actions.delete_post import delete_post
from tests.budgets import count_calls
from tests.callers import ids_of
from tests.faults.replicas.old_posts import asked, forget_caches, old_posts, path_of
from tests.private_world import bring_back
from tests.replicas import catch_replicas_up, held_back, replica_named
from tests.server_faults import kill, pause, resume
from tests.waiting import until
from tests.world import make_account, publish

SHARD = "shard0"
BOTH = ("shard0_replica0", "shard0_replica1")
# REPLICA_TIMEOUT_MS is 500: a wait takes at least so long.
A_WAIT_S = 0.4
ASKED = "SELECT 1"
ask = partial(read_replica_or_shard, SHARD, partial(fetch_one, sql=ASKED))


@pytest.fixture(scope="module")
def replica_counts():
    return {SHARD: 2}


@pytest.fixture
def account_id(services):
    account_id = next(one for one in iter(make_account, None) if shard_of(one) == SHARD)
    catch_replicas_up(services)
    return account_id


@pytest.fixture
def first_is_chosen(monkeypatch):
    monkeypatch.setattr(replicas.random, "choice", lambda used: used[0])


def used():
    return [one.alias for one in replicas_of(SHARD).used()]


def failed():
    return sum(READS.labels(SHARD, alias, "failed")._value.get() for alias in BOTH)


def asked_of(count=1):
    """How many of these reads each database answered. Checks run at the same time."""
    with count_calls() as calls:
        for _ in range(count):
            ask()
    return Counter(one.alias for one in calls.statements if one.sql == ASKED)


class TestBothWell:
    def test_reads_go_to_both_and_not_to_the_shard(self, services, steady, account_id):
        assert set(asked_of(64)) == {*BOTH}

    def test_pages_of_an_author(self, services, steady, account_id):
        ids = old_posts(account_id, 3)
        catch_replicas_up(services)
        with count_calls() as calls:
            for _ in range(32):
                assert ids_of(Client().get(path_of(account_id, ids[0]))) == [
                    i.public for i in ids[1:]
                ]
                forget_caches()
        assert asked(calls, SHARD, "posts_post") == 0
        assert all(asked(calls, alias, "posts_post") for alias in BOTH)

    def test_metrics_name_each(self, services, account_id):
        shown = Client().get("/metrics").content.decode()
        for alias in BOTH:
            assert f'tideline_replica_used{{replica="{alias}",shard="shard0"}} 1.0' in shown


class TestHanging:
    def test_one_costs_one_wait_and_the_other_answers(
        self, services, steady, account_id, first_is_chosen
    ):
        assert asked_of() == {BOTH[0]: 1}
        before = failed()
        pause(services.replicas[BOTH[0]])
        try:
            began = time.monotonic()
            assert ask() == (1,), "the shard answers"
            assert time.monotonic() - began > A_WAIT_S
            until(lambda: used() == [BOTH[1]])
            assert asked_of(10) == {BOTH[1]: 10}
            assert failed() - before == 1
        finally:
            resume(services.replicas[BOTH[0]])
        until(replica_named(BOTH[0]).check)
        assert asked_of() == {BOTH[0]: 1}

    def test_both_cost_one_wait_together(self, services, steady, account_id, first_is_chosen):
        for alias in BOTH:
            assert replica_named(alias).ask(partial(fetch_one, sql=ASKED)) == (1,)
        before = failed()
        with ExitStack() as hanging:
            for alias in BOTH:
                pause(services.replicas[alias])
                hanging.callback(resume, services.replicas[alias])
            assert ask() == (1,)
            assert asked_of(10) == {SHARD: 10}
            assert failed() - before == 1
        for alias in BOTH:
            until(replica_named(alias).check)
        assert set(used()) == {*BOTH}


class TestPages:
    @pytest.mark.parametrize("end", [kill, pause])
    def test_they_go_on_with_the_other_one(
        self, services, steady, account_id, first_is_chosen, end
    ):
        ids = old_posts(account_id, 3)
        catch_replicas_up(services)
        wanted = [i.public for i in ids[1:]]
        before = failed()
        end(services.replicas[BOTH[0]])
        try:
            assert ids_of(Client().get(path_of(account_id, ids[0]))) == wanted
            until(lambda: used() == [BOTH[1]])
            with count_calls() as calls:
                for _ in range(5):
                    forget_caches()
                    assert ids_of(Client().get(path_of(account_id, ids[0]))) == wanted
            assert asked(calls, SHARD, "posts_post") == 0
            assert asked(calls, BOTH[1], "posts_post") >= 5
            assert failed() - before == 1
        finally:
            bring_back(services.replicas[BOTH[0]])
        until(replica_named(BOTH[0]).check)


class TestBehind:
    def test_only_the_other_is_used_and_then_the_shard(self, services, settings, account_id):
        settings.REPLICA_LAG_S = 0
        with held_back(services.replicas[BOTH[0]]):
            publish(account_id)
            assert not replica_named(BOTH[0]).check()
            until(replica_named(BOTH[1]).check)
            assert asked_of(10) == {BOTH[1]: 10}
            with held_back(services.replicas[BOTH[1]]):
                publish(account_id)
                assert not replica_named(BOTH[1]).check()
                assert asked_of(10) == {SHARD: 10}

    def test_deleted_post_is_gone_whichever_is_asked(self, services, steady, account_id):
        gone, kept, below = old_posts(account_id, 3)[::-1]
        catch_replicas_up(services)
        with held_back(services.replicas[BOTH[0]]):
            delete_post(gone)
            until(lambda: fetch_one(BOTH[1], SHOWN, (account_id, gone.moment)) is None)
            with count_calls() as calls:
                for _ in range(32):
                    forget_caches()
                    assert Client().get(f"/api/v1/statuses/{gone.public}").status_code == 404
                    assert ids_of(Client().get(path_of(account_id, below))) == [kept.public]
        assert all(asked(calls, alias, "counters_counter") for alias in BOTH), "both were asked"


SHOWN = "SELECT 1 FROM posts_post WHERE author_id = %s AND moment = %s AND deleted_at IS NULL"


# A crowded machine may take longer than the commands wait, so the tests ask again.
STATES = re.compile(r"; shard0_replica0 used, [0-9,]+ bytes behind; shard0_replica1 left alone: ")
FAULT = re.compile(r"^shard0: (\w+) is left alone: ", re.MULTILINE)


class TestShown:
    def test_commands_and_ready_say_which_one_is_left_alone(self, services, account_id):
        pause(services.replicas[BOTH[1]])
        try:
            for words in (["show_status"], ["shards", "show"]):
                until(lambda words=words: STATES.search(run(*words)))
            until(lambda: FAULT.findall(run("shards", "check")) == [BOTH[1]])
            ready = until(lambda: ready_stores().get(BOTH[0]) == "ok" and ready_stores())
        finally:
            resume(services.replicas[BOTH[1]])
        assert ready[BOTH[1]] != "ok"
        until(replica_named(BOTH[1]).check)

    def test_as_json(self, services, account_id):
        [row] = run("shards", "show", "--json", "--shard", SHARD).splitlines()
        assert [*json.loads(row)["replicas"]] == [*BOTH]


def ready_stores() -> dict[str, str]:
    return Client().get("/health/ready").json()["stores"]


def run(name: str, *words: str) -> str:
    """What a command prints, however it ends."""
    out = StringIO()
    with suppress(SystemExit, CommandError):
        call_command(name, *words, stdout=out, stderr=out)
    return out.getvalue()
