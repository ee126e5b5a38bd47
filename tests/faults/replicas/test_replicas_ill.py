"""Replicas that are killed, hung or written to: left alone, used again, never wrong."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client

from accounts.models import Account
from accounts.queries.load import load_account_json
from infra.sharding.buckets import shard_of
from infra.sharding.errors import ReplicaIsReadOnly
from infra.sharding.replica import READS, Replica
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import execute, fetch_one
from tests.budgets import count_calls
from tests.callers import ids_of
from tests.faults.hung_world import environment_of, running_web
from tests.faults.replicas.old_posts import asked, forget_caches, old_posts, path_of
from tests.paced_requests import Ask, percentile
from tests.private_world import bring_back
from tests.replicas import catch_replicas_up, first_replica
from tests.server_faults import kill, pause, resume
from tests.waiting import until
from tests.world import make_account

# On a crowded machine; without a limit a replica that hangs would be waited for for ever.
A_PAGE_S = 50
# REPLICA_TIMEOUT_MS, and what the shard itself may take. A crowded machine takes longer.
SOON_S = 0.5 + 1.2 + 2.0


def failed_reads(replica):
    return READS.labels(replica.shard, replica.alias, "failed")._value.get()


class TestIll:
    @pytest.mark.parametrize("end", [kill, pause])
    def test_pages_go_on_and_it_is_used_again(self, services, end):
        ann = make_account()
        ids = old_posts(ann, 5)
        catch_replicas_up(services)
        server, replica = (
            services.replicas[f"{shard_of(ann)}_replica0"],
            first_replica(shard_of(ann)),
        )
        path, wanted = path_of(ann, ids[0]), [i.public for i in ids[1:]]
        client = Client()
        assert ids_of(client.get(path)) == wanted
        replica.check()
        end(server)
        before, began = failed_reads(replica), time.monotonic()
        for _ in range(5):
            forget_caches()
            assert ids_of(client.get(path)) == wanted
        assert time.monotonic() - began < 5 * A_PAGE_S
        assert failed_reads(replica) - before <= 1, "one page waits, the others need not"
        assert not replica.check()
        bring_back(server)
        until(replica.check)
        forget_caches()
        with count_calls() as calls:
            assert ids_of(client.get(path)) == wanted
        assert asked(calls, replica.alias, "posts_post")

    def test_hung_replica_costs_one_wait_and_no_second(self, services, steady):
        replica = first_replica("shard0")
        ask = partial(read_replica_or_shard, "shard0", partial(fetch_one, sql="SELECT 1"))
        ask()
        pause(services.replicas["shard0_replica0"])
        began = time.monotonic()
        assert ask() == (1,)
        assert 0.4 < time.monotonic() - began < A_PAGE_S
        with count_calls() as calls:
            assert ask() == (1,)
        assert calls.sql == {"shard0": 1}
        resume(services.replicas["shard0_replica0"])
        until(replica.check)

    def test_late_answer_of_a_hung_replica_is_dropped(self, services, steady):
        replica = first_replica("shard0")
        ask = partial(read_replica_or_shard, "shard0")
        ask(partial(fetch_one, sql="SELECT 1"))
        pause(services.replicas["shard0_replica0"])
        assert ask(partial(fetch_one, sql="SELECT 2")) == (2,)
        resume(services.replicas["shard0_replica0"])
        until(replica.check)
        with count_calls() as calls:
            assert ask(partial(fetch_one, sql="SELECT 3")) == (3,)
        assert calls.sql == {"shard0_replica0": 1}

    def test_connections_of_before_do_not_end_its_use_again(self, services, steady):
        """Each of many threads has one that broke; the first to notice speaks for all."""
        replica, server = first_replica("shard0"), services.replicas["shard0_replica0"]
        ask = partial(read_replica_or_shard, "shard0", partial(fetch_one, sql="SELECT 1"))
        with ThreadPoolExecutor(1) as other:
            ask()
            other.submit(ask).result()
            kill(server)
            ask()
            server.start()
            until(replica.check)
            with count_calls() as calls:
                other.submit(ask).result()
                other.submit(connections.close_all).result()
        assert calls.sql == {"shard0_replica0": 1}

    def test_ready_says_which_one_is_left_alone(self, services):
        assert Client().get("/health/ready").json()["status"] == "ok"
        kill(services.replicas["shard2_replica0"])
        answer = Client().get("/health/ready")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        stores = answer.json()["stores"]
        assert (stores["shard2_replica0"], stores["shard1_replica0"]) == ("left alone", "ok")

    def test_metrics_name_the_shard(self, services):
        kill(services.replicas["shard2_replica0"])
        first_replica("shard2").check()
        shown = Client().get("/metrics").content.decode()
        assert 'tideline_replica_used{replica="shard2_replica0",shard="shard2"} 0.0' in shown
        assert 'tideline_replica_used{replica="shard1_replica0",shard="shard1"} 1.0' in shown
        assert 'tideline_replica_lag_seconds{replica="shard1_replica0",shard="shard1"} 0.' in shown


class TestReadOnly:
    def test_orm_writes_are_refused(self, services):
        ann = make_account()
        catch_replicas_up(services)
        alias = f"{shard_of(ann)}_replica0"
        row = Account.objects.on(alias).get(id=ann)
        with pytest.raises(ReplicaIsReadOnly):
            row.save()
        for write in (Account.objects.on(alias).delete, partial(row.save, using=alias)):
            with pytest.raises(ReplicaIsReadOnly):
                write()
        with pytest.raises(ReplicaIsReadOnly):
            execute(alias, "UPDATE accounts_account SET display_name = 'x'")

    def test_its_sessions_refuse_what_gets_past_the_guard(self, services):
        fetch_one("shard0_replica0", "SELECT 1")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connections["shard0_replica0"].connection.execute("DELETE FROM accounts_account")
        assert fetch_one("shard0_replica0", "SHOW default_transaction_read_only") == ("on",)

    def test_migrations_pass_it_by(self, services, capsys):
        with pytest.raises(CommandError, match="migrate shard0"):
            call_command("migrate", database="shard0_replica0")
        call_command("migrate_shards")
        assert "replica" not in capsys.readouterr().out

    def test_a_shard_is_no_replica_of_its_own(self, services):
        """What a replica is once it was promoted: it has writes of its own."""
        assert not Replica("shard0", "shard0").check()
        assert not Replica("shard0", "shard1").check()


def test_a_page_fails_soon_when_its_shard_hangs_too_and_is_whole_later(services, tmp_path):
    ann = make_account()
    ids = old_posts(ann, 5)
    load_account_json([ann])
    catch_replicas_up(services)
    shard = shard_of(ann)
    both = services.postgres[shard], services.replicas[f"{shard}_replica0"]
    pages = [Ask("page", "", path_of(ann, below)) for below in ids[:4]]
    with running_web(environment_of(services.environment()), tmp_path / "web.log") as clients:
        until(lambda: clients.send(pages[0]).status == 200)
        for server in both:
            pause(server)
        try:
            answers = [clients.send(page) for page in pages[1:] * 3]
        finally:
            for server in both:
                resume(server)
        assert {one.status for one in answers} == {503}
        assert percentile(answers, 1.0) < SOON_S
        assert percentile(answers, 0.5) < SOON_S / 4
        until(lambda: [clients.send(page).status for page in pages] == [200] * 4)
