"""Real streaming replicas: asked while they are well, left alone when they are not, never wrong."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client

from accounts.models import Account
from counters.jobs.audit_counters import audit_counters
from infra.caching.client import redis
from infra.jobs.types import Work
from infra.sharding import replicas
from infra.sharding.buckets import shard_of
from infra.sharding.errors import ReplicaIsReadOnly
from infra.sharding.replicas import read_trailing, replica_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.known import known_posts
from posts.queries.statuses import load_status_json
from posts.types import Draft
from relations.queries.cursors import encode_cursor
from relations.queries.lists import FOLLOWERS_LIST, Window, list_page
from relations.types import Listed
from tests.budgets import Calls, count_calls
from tests.callers import Caller, ids_of
from tests.integration.relations.edge_rows import cut, lay_list
from tests.private_world import bring_back, private_world
from tests.replicas import catch_replicas_up, held_back
from tests.waiting import until
from tests.world import drain_all, make_account, publish

DAY_S = 86_400
SHOWN = "SELECT text, deleted_at IS NULL FROM posts_post WHERE author_id = %s AND moment = %s"
# What a page may take on a crowded machine, beyond the one wait for a replica that hangs.
A_PAGE_S = 2.5


@pytest.fixture(scope="module")
def private(django_db_blocker):
    with django_db_blocker.unblock(), private_world(has_replicas=True) as services:
        yield services


@pytest.fixture
def services(services):
    catch_replicas_up(services)
    return services


@pytest.fixture
def steady(monkeypatch):
    """What was found of a replica holds for the whole test."""
    monkeypatch.setattr(replicas, "HOLDS_S", 3_600)
    monkeypatch.setattr(replicas, "LOOK_S", 3_600)


def old_posts(author_id: int, count: int = 3, days: int = 40) -> list[PostId]:
    """Of weeks that Redis does not keep, newest first."""
    began = time.time() - days * DAY_S
    times = [partial(float, began + n) for n in range(count)]
    return [create_post(author_id, Draft("old"), clock_s=clock_s) for clock_s in times][::-1]


def forget_caches() -> None:
    redis().call("FLUSHDB")
    known_posts.forget_all()


def asked(calls: Calls, alias: str, word: str) -> int:
    return sum(s.alias == alias and word in s.sql for s in calls.statements)


def path_of(author_id: int, post_id: PostId | None = None, **query: object) -> str:
    more = "&".join(f"{name}={value}" for name, value in query.items())
    if post_id is not None:
        more += f"&max_id={post_id.public}"
    return f"/api/v1/accounts/{author_id}/statuses?{more}"


class TestReadsGoThere:
    def test_posts_of_older_weeks(self, services, steady):
        ann = make_account()
        ids = old_posts(ann)
        catch_replicas_up(services)
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert asked(calls, shard_of(ann), "posts_post") == 0
        assert asked(calls, f"{shard_of(ann)}_replica", "posts_post") == 1

    def test_weeks_that_redis_lacks(self, services, steady):
        ann = make_account()
        ids = [publish(ann), publish(ann)]
        catch_replicas_up(services)
        forget_caches()
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert asked(calls, shard_of(ann), "posts_post") == 0
        assert asked(calls, f"{shard_of(ann)}_replica", "posts_post") == 1
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert calls.sql.total() == 0, "what the replica gave was laid"

    def test_older_pages_of_an_author(self, services, steady):
        ann = make_account()
        ids = old_posts(ann, 5)
        catch_replicas_up(services)
        client = Client()
        with count_calls() as calls:
            shown = ids_of(client.get(path_of(ann, ids[1])))
        assert shown == [i.public for i in ids[2:]]
        assert asked(calls, shard_of(ann), "posts_post") == 0
        with count_calls() as calls:
            assert len(ids_of(client.get(path_of(ann)))) == 5
        assert asked(calls, shard_of(ann), "ORDER BY moment DESC LIMIT") == 1, "the newest page"

    def test_deep_pages_of_followers(self, services, steady):
        ann = make_account()
        many = [Listed(1_000 + n, 1_000_000 + n) for n in range(400)]
        lay_list(FOLLOWERS_LIST, ann, many)
        catch_replicas_up(services)
        small, below = cut(FOLLOWERS_LIST, 100), encode_cursor(many[200])
        list_page(small, ann, Window(40, max_id=below))
        with count_calls() as calls:
            page = list_page(small, ann, Window(40, max_id=below))
        assert page.items == many[199:159:-1]
        assert calls.sql == {f"{shard_of(ann)}_replica": 1}

    def test_audits_of_counts(self, services, steady):
        ann = make_account()
        publish(ann)
        catch_replicas_up(services)
        with count_calls() as calls:
            assert sum(batch.failed for batch in audit_counters(Work([shard_of(ann)]))) == 0
        assert calls.sql[f"{shard_of(ann)}_replica"] == 1


class TestTrailing:
    def test_new_post_is_there_at_once(self, services, steady):
        ann = make_account()
        caller = Caller(ann)
        catch_replicas_up(services)
        with held_back(services.replicas[shard_of(ann)]):
            made = caller.post("/api/v1/statuses", {"status": "new"}).json()["id"]
            forget_caches()
            with count_calls() as calls:
                assert caller.get(f"/api/v1/statuses/{made}").status_code == 200
            assert asked(calls, f"{shard_of(ann)}_replica", "counters_counter"), "it was asked"
            assert ids_of(caller.get(path_of(ann))) == [made]
            forget_caches()
            assert ids_of(Client().get(path_of(ann))) == [made]
        drain_all()
        assert ids_of(caller.get(path_of(ann))) == [made]

    @pytest.mark.parametrize("days", [0, 40])
    def test_deleted_post_never_returns(self, services, steady, days):
        ann = make_account()
        gone, kept = old_posts(ann, 2, days)
        below = create_post(ann, Draft("newer"))
        catch_replicas_up(services)
        replica = replica_of(shard_of(ann))
        with held_back(services.replicas[shard_of(ann)]):
            delete_post(gone)
            alive = fetch_one(replica.alias, SHOWN, (ann, gone.moment))
            assert alive == ("old", True), "the replica still has it"
            for _ in range(2):
                forget_caches()
                for _ in range(2):
                    assert Client().get(f"/api/v1/statuses/{gone.public}").status_code == 404
                    shown = ids_of(Client().get(path_of(ann, below)))
                    assert shown == [kept.public]
        catch_replicas_up(services)
        assert set(load_status_json([gone, kept])) == {kept}

    def test_who_did_nothing_is_still_read_there(self, services, steady):
        """A replica trails authors, not shards."""
        ann = make_account()
        bob = next(bob for bob in iter(make_account, None) if shard_of(bob) == shard_of(ann))
        quiet, busy = old_posts(ann), old_posts(bob)
        catch_replicas_up(services)
        with held_back(services.replicas[shard_of(ann)]):
            busy.append(old_posts(bob, 1)[0])
            with count_calls() as calls:
                assert set(load_status_json([*quiet, *busy])) == {*quiet, *busy}
        asked_of_shard = [s for s in calls.statements if "posts_post" in s.sql]
        assert {(s.alias, *s.params[0]) for s in asked_of_shard} == {
            (f"{shard_of(ann)}_replica", *[ann] * 3),
            (shard_of(ann), *[bob] * 4),
        }

    def test_too_far_behind_is_left_alone(self, services, settings):
        ann = make_account()
        replica = replica_of(shard_of(ann))
        settings.REPLICA_LAG_S = 0
        catch_replicas_up(services)
        with held_back(services.replicas[shard_of(ann)]):
            publish(ann)
            assert not replica.look()
            with count_calls() as calls:
                assert read_trailing(replica.shard, partial(fetch_one, sql="SELECT 1")) == (1,)
            assert calls.sql == {replica.shard: 1}
        until(replica.look)

    def test_one_that_is_cut_off_trails_though_it_replayed_all_it_received(
        self, services, settings
    ):
        ann = make_account()
        replica, server = replica_of(shard_of(ann)), services.replicas[shard_of(ann)]
        settings.REPLICA_LAG_S = 0
        catch_replicas_up(services)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: not connection.execute("SELECT * FROM pg_stat_wal_receiver").fetchall())
            publish(ann)
            assert not replica.look()
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = '{source_of(services, ann)}'")
            connection.execute("SELECT pg_reload_conf()")
        until(replica.look)


def source_of(services, account_id: int) -> str:
    parts = psycopg.conninfo.conninfo_to_dict(services.postgres[shard_of(account_id)].url)
    return f"host={parts['host']} port={parts['port']} user={parts['user']}"


class TestIll:
    @pytest.mark.parametrize("end", ["kill", "pause"])
    def test_pages_go_on_and_it_is_used_again(self, services, end):
        ann = make_account()
        ids = old_posts(ann, 5)
        catch_replicas_up(services)
        server, replica = services.replicas[shard_of(ann)], replica_of(shard_of(ann))
        path, wanted = path_of(ann, ids[0]), [i.public for i in ids[1:]]
        client = Client()
        assert ids_of(client.get(path)) == wanted
        replica.look()
        getattr(server, end)()
        took = []
        for _ in range(5):
            began = time.monotonic()
            assert ids_of(client.get(path)) == wanted
            took.append(time.monotonic() - began)
        assert max(took) < A_PAGE_S + 0.5
        assert max(took[1:]) < A_PAGE_S
        assert not replica.look()
        bring_back(server)
        until(replica.look)
        with count_calls() as calls:
            assert ids_of(client.get(path)) == wanted
        assert asked(calls, replica.alias, "posts_post")

    def test_hung_replica_costs_one_wait_and_no_second(self, services, steady):
        replica = replica_of("shard0")
        ask = partial(read_trailing, "shard0", partial(fetch_one, sql="SELECT 1"))
        ask()
        services.replicas["shard0"].pause()
        began = time.monotonic()
        assert ask() == (1,)
        assert 0.4 < time.monotonic() - began < A_PAGE_S
        with count_calls() as calls:
            assert ask() == (1,)
        assert calls.sql == {"shard0": 1}
        services.replicas["shard0"].resume()
        until(replica.look)

    def test_what_a_hung_replica_says_too_late_is_nobody_s_answer(self, services, steady):
        replica = replica_of("shard0")
        ask = partial(read_trailing, "shard0")
        ask(partial(fetch_one, sql="SELECT 1"))
        services.replicas["shard0"].pause()
        assert ask(partial(fetch_one, sql="SELECT 2")) == (2,)
        services.replicas["shard0"].resume()
        until(replica.look)
        with count_calls() as calls:
            assert ask(partial(fetch_one, sql="SELECT 3")) == (3,)
        assert calls.sql == {"shard0_replica": 1}

    def test_connections_of_before_do_not_end_its_use_again(self, services, steady):
        """Each of many threads has one that broke; the first to notice speaks for all."""
        replica, server = replica_of("shard0"), services.replicas["shard0"]
        ask = partial(read_trailing, "shard0", partial(fetch_one, sql="SELECT 1"))
        with ThreadPoolExecutor(1) as other:
            ask()
            other.submit(ask).result()
            server.kill()
            ask()
            server.start()
            until(replica.look)
            with count_calls() as calls:
                other.submit(ask).result()
                other.submit(connections.close_all).result()
        assert calls.sql == {"shard0_replica": 1}

    def test_ready_says_which_one_is_left_alone(self, services):
        assert Client().get("/health/ready").json()["status"] == "ok"
        services.replicas["shard2"].kill()
        answer = Client().get("/health/ready")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        stores = answer.json()["stores"]
        assert (stores["shard2_replica"], stores["shard1_replica"]) == ("left alone", "ok")

    def test_metrics_name_the_shard(self, services):
        services.replicas["shard2"].kill()
        replica_of("shard2").look()
        shown = Client().get("/metrics").content.decode()
        assert 'tideline_replica_used{shard="shard2"} 0.0' in shown
        assert 'tideline_replica_used{shard="shard1"} 1.0' in shown
        assert 'tideline_replica_lag_seconds{shard="shard1"} 0.' in shown


class TestReadOnly:
    def test_orm_writes_are_refused(self, services):
        ann = make_account()
        catch_replicas_up(services)
        alias = f"{shard_of(ann)}_replica"
        row = Account.objects.on(alias).get(id=ann)
        with pytest.raises(ReplicaIsReadOnly):
            row.save()
        for write in (Account.objects.on(alias).delete, partial(row.save, using=alias)):
            with pytest.raises(ReplicaIsReadOnly):
                write()
        with pytest.raises(ReplicaIsReadOnly):
            execute(alias, "UPDATE accounts_account SET display_name = 'x'")

    def test_its_sessions_refuse_what_gets_past_the_guard(self, services):
        fetch_one("shard0_replica", "SELECT 1")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connections["shard0_replica"].connection.execute("DELETE FROM accounts_account")
        assert fetch_one("shard0_replica", "SHOW default_transaction_read_only") == ("on",)

    def test_migrations_pass_it_by(self, services, capsys):
        with pytest.raises(CommandError, match="migrate shard0"):
            call_command("migrate", database="shard0_replica")
        call_command("migrate_shards")
        assert "replica" not in capsys.readouterr().out

    def test_a_shard_is_no_replica_of_its_own(self, services):
        """What a replica is once it was promoted: it has writes of its own."""
        assert not replicas.Replica("shard0", "shard0").look()
        assert not replicas.Replica("shard0", "shard1").look()
