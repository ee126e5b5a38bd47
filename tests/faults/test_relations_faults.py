"""Follows while a shard or Redis is away: others work, and missed changes are delivered later."""

import time
from unittest.mock import patch

import pytest
from django.db import OperationalError, close_old_connections
from django.db.backends.postgresql.base import DatabaseWrapper

from accounts.queries.load import load_account_json
from infra.api.pages import Window
from infra.changes.compensate import drain
from infra.changes.lanes import all_lanes
from infra.changes.models import Change
from infra.sharding import scatter
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from tests.cached_lists import assert_cached_lists_agree
from tests.callers import Caller, ids_of
from tests.contradictions import shown_to
from tests.integration.timelines.homes import first_page
from tests.private_world import bring_back, catch_up
from tests.server_faults import kill, pause, resume
from tests.truth import assert_drained_truth, forward_edges, live_pairs
from tests.world import make_accounts, publish

pytestmark = pytest.mark.core

DOWN = "shard1"
# How often at most it is tried to reach a shard for one row: for its edge and for its notification
# with others and alone, for what each of the two reads there, and for its caches.
A_ROW = 7


@pytest.fixture
def attempts(monkeypatch):
    """Each attempt to reach the shard that is down; each may take the whole time-out."""
    attempts, connect = [], DatabaseWrapper.get_new_connection

    def connect_aloud(wrapper, parameters):
        if wrapper.alias == DOWN:
            attempts.append(wrapper)
        return connect(wrapper, parameters)

    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", connect_aloud)
    return attempts


def people_by_shard(count: int) -> dict[str, list[int]]:
    """Accounts by their shard; their pages are cached."""
    people = make_accounts(count)
    load_account_json(people)
    return {alias: [p for p in people if shard_of(p) == alias] for alias in all_aliases()[1:]}


def members(edge_list, account_id: int) -> list[int]:
    return [i.account_id for i in list_page(edge_list, account_id, Window(80)).items]


def pending(alias: str) -> int:
    return Change.objects.on(alias).count()


def drain_those_up(*down: str) -> None:
    for alias in all_aliases():
        if alias not in down:
            drain_one(alias)


def drain_one(alias: str) -> None:
    for lane in all_lanes():
        drain(alias, lane)


def test_shard_down_stops_its_own_accounts_only_and_catches_up(services, attempts):
    people = people_by_shard(16)
    (ann, *_), (bob, *_), (eve, *_) = people["shard0"], people["shard2"], people[DOWN]
    _, joe, zoe, *_ = people["shard0"]
    assert members(FOLLOWERS_LIST, bob) == []
    kill(services.postgres[DOWN])

    assert follow(ann, eve)  # the followee's side has to wait
    assert follow(ann, bob)
    assert follow(joe, bob)
    assert unfollow(joe, bob)
    assert follow(zoe, bob)
    with pytest.raises(OperationalError):
        follow(eve, bob)
    attempts.clear()
    drain_those_up(DOWN)
    assert len(attempts) <= A_ROW
    assert set(members(FOLLOWING_LIST, ann)) == {bob, eve}
    assert set(members(FOLLOWERS_LIST, bob)) == {ann, zoe}
    assert pending("shard0") == 1  # the follow of eve

    services.postgres[DOWN].start()
    catch_up()
    assert members(FOLLOWERS_LIST, eve) == [ann]
    assert_drained_truth()
    assert follow(eve, bob)


def test_hung_shard_costs_a_follow_nothing_and_catches_up(services):
    people = people_by_shard(16)
    (ann, bob, *_), (eve, *_) = people["shard0"], people[DOWN]
    assert follow(ann, people["shard0"][2])  # the thread has its connections
    pause(services.postgres[DOWN])
    with patch.object(scatter, "_threads") as threads:
        began_s = time.monotonic()
        assert follow(ann, eve)
        assert follow(bob, eve)
        # Far less than STATEMENT_TIMEOUT_MS, which ends a statement of a shard that runs.
        assert time.monotonic() - began_s < 10
    assert not threads.called
    resume(services.postgres[DOWN])
    catch_up()
    assert sorted(members(FOLLOWERS_LIST, eve)) == sorted([ann, bob])
    assert_drained_truth()


def test_through_http_a_shard_down_is_503_for_its_own_accounts_only(services):
    people = people_by_shard(8)
    (ann, *_), (bob, *_), (eve, *_) = people["shard0"], people["shard2"], people[DOWN]
    healthy, stricken = Caller(ann), Caller(eve)
    healthy.get("/api/v1/accounts/relationships"), stricken.get("/api/v1/accounts/relationships")
    kill(services.postgres[DOWN])
    answer = stricken.post(f"/api/v1/accounts/{bob}/follow")
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert answer.json()["error"]
    assert healthy.post(f"/api/v1/accounts/{bob}/follow").status_code == 200
    assert healthy.post(f"/api/v1/accounts/{eve}/follow").status_code == 200
    assert set(ids_of(healthy.get(f"/api/v1/accounts/{ann}/following"))) == {str(bob), str(eve)}
    services.postgres[DOWN].start()
    assert stricken.post(f"/api/v1/accounts/{bob}/follow").status_code == 200
    catch_up()
    assert_drained_truth()


def test_follower_removed_by_somebody_whose_shard_is_down_stays_removed(services):
    people = people_by_shard(8)
    fan, (eve, *_) = people["shard0"][0], people[DOWN]
    follow(fan, eve)
    catch_up()
    assert members(FOLLOWERS_LIST, eve) == [fan]
    kill(services.postgres[DOWN])
    assert remove_follower(eve, fan)
    assert members(FOLLOWING_LIST, fan) == []
    services.postgres[DOWN].start()
    close_old_connections()
    catch_up()
    assert members(FOLLOWERS_LIST, eve) == []
    assert_drained_truth()


def mutual_across(people: dict[str, list[int]]) -> tuple[int, int]:
    """One account on a healthy shard and one on the other; each has read the other's posts."""
    ann, eve = people["shard0"][0], people[DOWN][0]
    follow(ann, eve)
    follow(eve, ann)
    for author in (ann, eve):
        publish(author)
    catch_up()
    for reader in (ann, eve):
        assert len(first_page(reader)) == 2
        assert members(FOLLOWING_LIST, reader) == members(FOLLOWERS_LIST, reader)
    return ann, eve


def test_block_of_somebody_whose_shard_is_down_holds_at_once(services):
    """For the blocker. The other account sees no old cached page, and sees the block later."""
    ann, eve = mutual_across(people_by_shard(8))
    kill(services.postgres[DOWN])
    assert block(ann, eve)
    assert shown_to(ann, eve).blocking
    assert not shown_to(ann, eve).followed_by
    assert members(FOLLOWERS_LIST, ann) == members(FOLLOWING_LIST, ann) == []
    assert len(first_page(ann)) == 1
    for read in (first_page, lambda account: members(FOLLOWING_LIST, account)):
        with pytest.raises(OperationalError):
            read(eve)

    services.postgres[DOWN].start()
    catch_up()
    assert shown_to(eve, ann).blocked_by
    assert len(first_page(eve)) == 1
    assert live_pairs() == set()
    assert_drained_truth()
    assert_cached_lists_agree([ann, eve])


def test_block_and_unblock_while_their_shard_is_down_have_ended_their_follow(services):
    ann, eve = mutual_across(people_by_shard(8))
    kill(services.postgres[DOWN])
    assert block(ann, eve)
    assert unblock(ann, eve)
    services.postgres[DOWN].start()
    catch_up()
    assert live_pairs() == set()
    assert_drained_truth()
    assert follow(eve, ann)


def test_block_while_redis_is_away_holds_at_once_and_after(services):
    ann, eve = mutual_across(people_by_shard(8))
    kill(services.redis)
    assert block(ann, eve)
    for reader in (ann, eve):
        assert len(first_page(reader)) == 1
        assert members(FOLLOWERS_LIST, reader) == members(FOLLOWING_LIST, reader) == []
    assert (shown_to(ann, eve).blocking, shown_to(eve, ann).blocked_by) == (True, True)
    services.redis.start()
    catch_up()
    assert_drained_truth()
    assert_cached_lists_agree([ann, eve])
    assert [len(first_page(reader)) for reader in (ann, eve)] == [1, 1]


def test_many_follows_of_a_shard_that_is_down_do_not_hold_up_the_others(services, attempts):
    people = people_by_shard(160)
    stricken, healthy = people[DOWN], people["shard2"]
    ann, bob, *_ = people["shard0"]
    for one, other in zip(stricken, healthy, strict=True):
        follow(ann, one)
        follow(ann, other)
        follow(bob, other)
    kill(services.postgres[DOWN])
    attempts.clear()
    drain_those_up(DOWN)
    assert len(attempts) <= A_ROW * len(stricken)
    assert all(set(members(FOLLOWERS_LIST, other)) == {ann, bob} for other in healthy)
    assert pending("shard0") == len(stricken)
    services.postgres[DOWN].start()
    catch_up()
    assert_drained_truth()


@pytest.mark.parametrize("end", [kill, pause])
def test_follows_while_redis_is_away_show_at_once_and_after(services, end):
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    catch_up()
    assert (members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)) == ([bob], [ann])
    end(services.redis)
    assert follow(ann, eve)
    assert unfollow(ann, bob)
    assert members(FOLLOWING_LIST, ann) == [eve]
    bring_back(services.redis)
    catch_up()
    assert (members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)) == ([eve], [])
    assert forward_edges().keys() == {(ann, bob), (ann, eve)}
    assert_drained_truth()
