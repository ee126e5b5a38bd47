"""Followers that Redis does not hold: limited by a rate (S3), few loaded when few are read (S0)."""

import time
from functools import partial
from itertools import chain

import pytest

from counters.types import Count
from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.quotas import QuotaClaim, Quotas
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from infra.shared_thread import SharedThread
from relations.actions import mirror
from relations.actions.follow import follow, unfollow
from relations.errors import TooManyDeepPages
from relations.queries import loaders
from relations.queries.edge_lists import (
    FOLLOWERS_LIST,
    OWN_FOLLOWERS_LIST,
    encode_cursor,
    list_page,
)
from relations.queries.loaders import FIRST_FOLLOWERS, count_first_followers
from relations.types import ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.relations.edge_rows import cut, write_edges, write_list
from tests.plans import assert_index_only, settle
from tests.races import run_together
from tests.redis_away import redis_away
from tests.world import make_account, make_accounts

FOLLOWERS = "relations_backwardedge"
PER_S = 20
LONG_S = 1_000
ROOM = 300
SMALL = cut(FOLLOWERS_LIST, ROOM)
MANY = [ListedAccount(1_000 + n, 1_000_000 + n) for n in range(4 * ROOM)]
DEEP = encode_cursor(MANY[ROOM])


@pytest.fixture
def allow(monkeypatch):
    """Call it to allow this many deep pages per period from now on."""

    def allow(limit: int, period_s: int = 1) -> None:
        monkeypatch.setattr(loaders, "DEEP_PAGE", QuotaClaim("deep-pages-of-the-test", limit))
        monkeypatch.setattr(loaders, "deep_pages", Quotas(period_s))

    return allow


@pytest.fixture
def star(world):
    """An account with four times the followers that Redis keeps."""
    star_id = make_account()
    write_list(FOLLOWERS_LIST, star_id, MANY)
    return star_id


def reads_of_followers(calls):
    return [s for s in calls.statements if FOLLOWERS in s.sql]


def ids(star, limit=80, edge_list=SMALL, **bounds):
    return list_page(edge_list, star, Window(limit, **bounds)).items


def fill_whole(star):
    """The first deep page loads all that Redis has room for."""
    ids(star, max_id=encode_cursor(MANY[-1]))


def newest(count, start=0):
    return MANY[::-1][start : start + count]


class TestQuota:
    def test_ten_times_the_quota_is_mostly_refused_and_the_shard_sees_the_quota(self, star, allow):
        fill_whole(star)
        allow(PER_S)
        began = time.monotonic()

        def scrape():
            answers = []
            for _ in range(10):
                try:
                    answers.append(len(ids(star, max_id=DEEP)))
                except TooManyDeepPages as error:
                    answers.append(error)
                    assert 1 <= int(error.headers["Retry-After"]) <= 2
                time.sleep(0.05)  # the pace: 20 of them are ten times the rate
            return answers

        with count_calls() as calls:
            answers = list(chain.from_iterable(run_together([scrape] * 20)))
        lasted = time.monotonic() - began
        served = answers.count(80)
        assert len(answers) == 200
        assert len(reads_of_followers(calls)) == served
        assert PER_S // 4 <= served <= PER_S * (lasted + 2)
        assert sum(isinstance(a, TooManyDeepPages) for a in answers) == 200 - served

    def test_a_page_is_admitted_once_it_has_a_thread_of_its_own(self, star, allow):
        """A shared thread hands it over, and it begins again."""
        fill_whole(star)
        allow(1, LONG_S)
        handed_over = []
        shared = SharedThread(lambda bound: ids(star, max_id=bound), handed_over.append)
        waits = shared.turn([DEEP])
        while waits:
            waits = shared.turn([])
        assert [len(ids(star, max_id=bound)) for bound in handed_over] == [80]

    def test_what_redis_holds_is_never_refused(self, star, allow):
        fill_whole(star)
        allow(1, LONG_S)
        with pytest.raises(TooManyDeepPages):
            for _ in range(2):
                ids(star, max_id=DEEP)
        with count_calls() as calls:
            for start in range(0, ROOM - 80, 40):
                cursor = encode_cursor(MANY[::-1][start])
                assert ids(star, max_id=cursor) == newest(80, start + 1)
                assert ids(star, min_id=encode_cursor(MANY[-81])) == newest(80)
        assert calls.sql.total() == 0

    def test_paging_up_from_the_deep_is_behind_it_too(self, star, allow):
        fill_whole(star)
        allow(1, LONG_S)
        assert ids(star, min_id=encode_cursor(MANY[0])) == MANY[80:0:-1]
        with pytest.raises(TooManyDeepPages):
            ids(star, min_id=encode_cursor(MANY[0]))

    def test_loading_the_whole_cached_part_is_limited_too(self, star, allow):
        allow(1, LONG_S)
        ids(star, max_id=encode_cursor(MANY[-1]))
        redis().call("DEL", SMALL.tier.cache.key(star))
        with pytest.raises(TooManyDeepPages):
            ids(star, max_id=encode_cursor(MANY[-1]))
        assert ids(star) == newest(80)  # first pages go on

    def test_small_accounts_and_the_owner_are_never_refused(self, star, allow):
        small = make_account()
        write_list(FOLLOWERS_LIST, small, MANY[:ROOM])
        allow(1, LONG_S)
        for cursor in [None, DEEP, encode_cursor(MANY[5])] * 3:
            redis().call("DEL", SMALL.tier.cache.key(small))
            ids(small, max_id=cursor)
            ids(star, max_id=cursor, edge_list=OWN_FOLLOWERS_LIST)

    def test_over_http_it_is_429_with_retry_after(self, star, allow, monkeypatch):
        people = make_accounts(6)
        write_edges(FOLLOWERS_LIST, star, [ListedAccount(n, p) for n, p in enumerate(people)])
        allow(1, LONG_S)
        path = f"/api/v1/accounts/{star}/followers?limit=5"
        me = Caller(people[0])
        me.get(path)  # Redis has room for all of them here: now it holds a hundred
        redis().call("ZREMRANGEBYRANK", FOLLOWERS_LIST.tier.cache.key(star), 1, -101)
        redis().call("ZREM", FOLLOWERS_LIST.tier.cache.key(star), "whole")
        redis().call("ZADD", FOLLOWERS_LIST.tier.cache.key(star), -2, "newest")
        deep_path = f"{path}&max_id={encode_cursor(MANY[0])}"
        monkeypatch.setattr("relations.queries.edge_lists._is_worth_loading", lambda *_: False)
        assert ids_of(me.get(deep_path)) == [str(p) for p in people[:0:-1]]
        answer = me.get(deep_path)
        assert answer.status_code == 429
        assert answer.json() == {"error": "Too many requests"}
        assert 1 <= int(answer["Retry-After"]) <= LONG_S

    def test_without_redis_first_pages_are_free_and_deeper_ones_keep_the_quota(self, star, allow):
        allow(1, LONG_S)
        with redis_away():
            for _ in range(3):
                assert ids(star) == newest(80)
            assert ids(star, max_id=DEEP) == newest(80, 3 * ROOM)
            for bounds in ({"max_id": DEEP}, {"min_id": DEEP}):
                with pytest.raises(TooManyDeepPages):
                    ids(star, **bounds)


class TestFirstPages:
    def test_a_miss_lays_what_the_first_pages_need_and_no_more(self, star):
        old = [ListedAccount(n // 30, 2_000_000 + n) for n in range(30_000)]
        write_edges(FOLLOWERS_LIST, star, old)
        settle(shard_of(star), FOLLOWERS)
        with count_calls() as calls:
            assert ids(star, 20) == newest(20)
        (read,) = reads_of_followers(calls)
        assert_index_only(read, "backward_follows", FIRST_FOLLOWERS + 1)
        cached = redis().call("ZCARD", SMALL.tier.cache.key(star)) - 1
        assert cached == FIRST_FOLLOWERS
        shown, cursor = [], None
        with count_calls() as calls:
            for _ in range(5):
                page = list_page(SMALL, star, Window(20, max_id=cursor))
                shown, cursor = shown + page.items, page.older
            assert shown[:-1] == newest(FIRST_FOLLOWERS - 1)
        assert len(reads_of_followers(calls)) <= 1

    def test_who_reads_on_lays_all_there_is_room_for_once(self, star):
        ids(star, 20)
        after_first = encode_cursor(MANY[-FIRST_FOLLOWERS])
        with count_calls() as calls:
            assert ids(star, max_id=after_first) == newest(80, FIRST_FOLLOWERS)
        assert len(reads_of_followers(calls)) == 1
        assert redis().call("ZCARD", SMALL.tier.cache.key(star)) == ROOM + 1
        with count_calls() as calls:
            assert ids(star, max_id=after_first) == newest(80, FIRST_FOLLOWERS)
        assert calls.sql.total() == 0

    def test_new_followers_come_to_the_top_of_a_short_list(self, star, drain, monkeypatch):
        monkeypatch.setattr(mirror, "FOLLOWERS", SMALL.tier.cache)
        ids(star, 20)
        fans = make_accounts(3)
        for fan in fans:
            follow(fan, star)
        unfollow(fans[1], star)
        drain()
        with count_calls() as calls:
            shown = ids(star, 4)
        assert [i.account_id for i in shown] == [
            fans[2],
            fans[0],
            *(i.account_id for i in newest(2)),
        ]
        assert calls.sql.total() == 0

    def test_many_who_leave_do_not_leave_a_short_page(self, star):
        ids(star, 20)
        key = SMALL.tier.cache.key(star)
        members = redis().call("ZRANGE", key, 1, -1)
        redis().call("ZREM", key, *members[30:])  # as 70 changes in place would
        gone = [listed.account_id for listed in newest(FIRST_FOLLOWERS - 30)]
        execute(
            shard_of(star),
            f"UPDATE {FOLLOWERS} SET attribute = 0"
            " WHERE followee_id = %s AND follower_id = ANY(%s)",
            (star, gone),
        )
        assert ids(star, 80) == newest(80, FIRST_FOLLOWERS - 30)

    def test_first_readers_at_once_read_little_each(self, star):
        with count_calls() as calls:
            pages = run_together([partial(ids, star, 20)] * 12)
        assert pages == [newest(20)] * 12
        for read in reads_of_followers(calls):
            assert read.params[-1] == FIRST_FOLLOWERS + 1

    @pytest.mark.parametrize(
        ("followers", "loaded"),
        [
            (Count(value=50_000, version=50_000), 100),  # no follower ever left
            (Count(value=50_000, version=150_000), 200),  # as many left as stayed
            (Count(value=50_000, version=450_000), 500),  # four of five left
            (Count(value=50_000, version=700), 100),  # moves folded into few versions
            (Count(value=30_000, version=40_000), 117),  # not a whole number: upwards
        ],
    )
    def test_the_reserve_is_by_the_accounts_own_ratio(self, followers, loaded):
        assert count_first_followers(followers) == loaded

    def test_the_reserve_ends_where_the_room_ends(self, star, monkeypatch):
        monkeypatch.setattr(loaders, "count_first_followers", lambda _: 10**9)
        ids(star, 20)
        assert redis().call("ZCARD", SMALL.tier.cache.key(star)) == ROOM + 1


def test_a_scraper_who_waits_gets_everybody_once(star, allow):
    allow(1_000_000)
    shown, cursor = [], None
    while True:
        page = list_page(SMALL, star, Window(80, max_id=cursor))
        shown += page.items
        if page.older is None:
            break
        cursor = page.older
    assert shown == MANY[::-1]
