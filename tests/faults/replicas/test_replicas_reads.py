"""What replicas are asked for while they are well, and what of theirs is not believed."""

from functools import partial

import psycopg
import pytest
from django.test import Client

from counters.jobs.drifting_counts import audit_counters
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.replicas import read_replica_or_shard
from infra.sharding.sql import fetch_one
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.reading.statuses import load_status_json
from posts.types import Draft
from relations.queries.edge_lists import FOLLOWERS_LIST, Window, encode_cursor, list_page
from relations.types import ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.faults.replicas.old_posts import asked, forget_caches, old_posts, path_of
from tests.integration.relations.edge_rows import cut, write_list
from tests.replicas import catch_replicas_up, first_replica, held_back
from tests.waiting import until
from tests.world import drain_all, make_account, publish

SHOWN = "SELECT text, deleted_at IS NULL FROM posts_post WHERE author_id = %s AND moment = %s"


class TestReadsGoThere:
    def test_posts_of_older_weeks(self, services, steady):
        ann = make_account()
        ids = old_posts(ann)
        catch_replicas_up(services)
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert asked(calls, shard_of(ann), "posts_post") == 0
        assert asked(calls, f"{shard_of(ann)}_replica0", "posts_post") == 1

    def test_weeks_that_redis_lacks(self, services, steady):
        ann = make_account()
        ids = [publish(ann), publish(ann)]
        catch_replicas_up(services)
        forget_caches()
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert asked(calls, shard_of(ann), "posts_post") == 0
        assert asked(calls, f"{shard_of(ann)}_replica0", "posts_post") == 1
        with count_calls() as calls:
            assert set(load_status_json(ids)) == set(ids)
        assert calls.sql.total() == 0, "the replica's answer was cached"

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
        many = [ListedAccount(1_000 + n, 1_000_000 + n) for n in range(400)]
        write_list(FOLLOWERS_LIST, ann, many)
        catch_replicas_up(services)
        small, below = cut(FOLLOWERS_LIST, 100), encode_cursor(many[200])
        list_page(small, ann, Window(40, max_id=below))
        with count_calls() as calls:
            page = list_page(small, ann, Window(40, max_id=below))
        assert page.items == many[199:159:-1]
        assert calls.sql == {f"{shard_of(ann)}_replica0": 1}

    def test_audits_of_counts(self, services, steady):
        ann = make_account()
        publish(ann)
        catch_replicas_up(services)
        with count_calls() as calls:
            assert sum(batch.failed for batch in audit_counters(Work([shard_of(ann)]))) == 0
        assert calls.sql[f"{shard_of(ann)}_replica0"] == 1


class TestTrailing:
    def test_new_post_is_there_at_once(self, services, steady):
        ann = make_account()
        caller = Caller(ann)
        catch_replicas_up(services)
        with held_back(services.replicas[f"{shard_of(ann)}_replica0"]):
            made = caller.post("/api/v1/statuses", {"status": "new"}).json()["id"]
            forget_caches()
            with count_calls() as calls:
                assert caller.get(f"/api/v1/statuses/{made}").status_code == 200
            assert asked(calls, f"{shard_of(ann)}_replica0", "counters_counter"), "it was asked"
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
        replica = first_replica(shard_of(ann))
        with held_back(services.replicas[f"{shard_of(ann)}_replica0"]):
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
        with held_back(services.replicas[f"{shard_of(ann)}_replica0"]):
            busy.append(old_posts(bob, 1)[0])
            with count_calls() as calls:
                assert set(load_status_json([*quiet, *busy])) == {*quiet, *busy}
        asked_of_shard = [s for s in calls.statements if "posts_post" in s.sql]
        assert {(s.alias, *s.params[0]) for s in asked_of_shard} == {
            (f"{shard_of(ann)}_replica0", *[ann] * 3),
            (shard_of(ann), *[bob] * 4),
        }

    def test_too_far_behind_is_left_alone(self, services, settings):
        ann = make_account()
        replica = first_replica(shard_of(ann))
        settings.REPLICA_LAG_S = 0
        catch_replicas_up(services)
        with held_back(services.replicas[f"{shard_of(ann)}_replica0"]):
            publish(ann)
            assert not replica.check()
            with count_calls() as calls:
                assert read_replica_or_shard(replica.shard, partial(fetch_one, sql="SELECT 1")) == (
                    1,
                )
            assert calls.sql == {replica.shard: 1}
        until(replica.check)

    def test_one_that_is_cut_off_trails_though_it_replayed_all_it_received(
        self, services, settings
    ):
        ann = make_account()
        replica, server = (
            first_replica(shard_of(ann)),
            services.replicas[f"{shard_of(ann)}_replica0"],
        )
        settings.REPLICA_LAG_S = 0
        catch_replicas_up(services)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: not connection.execute("SELECT * FROM pg_stat_wal_receiver").fetchall())
            publish(ann)
            assert not replica.check()
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = '{source_of(services, ann)}'")
            connection.execute("SELECT pg_reload_conf()")
        until(replica.check)


def source_of(services, account_id: int) -> str:
    parts = psycopg.conninfo.conninfo_to_dict(services.postgres[shard_of(account_id)].url)
    return f"host={parts['host']} port={parts['port']} user={parts['user']}"
