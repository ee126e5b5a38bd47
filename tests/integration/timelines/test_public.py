"""The public timeline over HTTP: the newest posts of all, bounded, by the viewer's rules."""

import orjson
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from infra.caching.client import redis
from infra.caching.questions import answer
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.types import Draft
from relations.actions.block import block
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.integration.timelines.indexed import arrive_on_time, index_everywhere
from tests.people import cast
from tests.world import publish
from timelines import cache
from timelines.recent.low_water_mark import raise_low_water_mark
from timelines.recent.queries import newest_posts, public_posts
from timelines.recent.queries.public_posts import list_newest_public
from timelines.types import Entry

PUBLIC = "/api/v1/timelines/public"


people = cast(5)


@pytest.fixture
def posts(each_index, people):
    """Ten each of the last four, a second apart; newest first."""
    made = [publish(people[1 + n % 4], clock_s=lambda n=n: EPOCH + 100 + n) for n in range(40)]
    index_everywhere([Entry.of_post(post) for post in made], 0)
    arrive_on_time()
    return [post.public for post in reversed(made)]


def test_anybody_reads_it_by_its_links(posts):
    found, path = [], f"{PUBLIC}?limit=7"
    while path:
        answer = Client().get(path)
        found += ids_of(answer)
        path = next_link(answer)
    assert found == posts


def test_pages_begin_where_the_cursor_says(posts):
    get = Client().get
    assert ids_of(get(PUBLIC, {"limit": 3, "max_id": posts[9]})) == posts[10:13]
    assert ids_of(get(PUBLIC, {"limit": 3, "since_id": posts[9]})) == posts[:3]
    assert ids_of(get(PUBLIC, {"limit": 3, "min_id": posts[9]})) == posts[6:9]
    assert ids_of(get(PUBLIC, {"limit": 40, "since_id": posts[2]})) == posts[:2]
    assert "next" not in get(PUBLIC, {"limit": 5, "max_id": posts[-6]})["Link"]


def test_blocks_either_way_and_mutes_hold_and_pages_stay_full(people, posts):
    me, blocked, blocking, muted, other = people
    block(me, blocked)
    block(blocking, me)
    mute(me, muted)
    expected = [post for post in posts if PostId.from_public(post).author_id == other]
    assert ids_of(Caller(me).get(PUBLIC, {"limit": 4})) == expected[:4]
    assert ids_of(Caller(me).get(PUBLIC, {"limit": 40})) == expected
    assert ids_of(Client().get(PUBLIC, {"limit": 40})) == posts


def test_deleted_post_is_gone_at_the_next_read(people, posts):
    assert ids_of(Client().get(PUBLIC, {"limit": 1})) == posts[:1]
    delete_post(PostId.from_public(posts[0]))
    assert ids_of(Client().get(PUBLIC, {"limit": 1})) == posts[1:2]


def test_reposts_and_replies_to_others_are_left_out(people):
    one, other = people[:2]
    post = publish(one)
    to_oneself = create_post(one, Draft("and", in_reply_to=post))
    reply = create_post(other, Draft("so?", in_reply_to=post))
    event = repost(other, post)
    entries = [Entry.of_post(i) for i in (post, to_oneself, reply)]
    index_everywhere([*entries, Entry(event, post)], 0)
    assert ids_of(Client().get(PUBLIC)) == sorted([to_oneself.public, post.public], reverse=True)


def test_nothing_is_remote_or_has_media(posts):
    get = Client().get
    for nothing in ({"remote": "true"}, {"only_media": "1"}):
        answer = get(PUBLIC, nothing)
        assert (answer.status_code, ids_of(answer)) == (200, [])
    for all_of_it in ({"local": "true"}, {"local": "true", "remote": "true"}, {"remote": "false"}):
        assert ids_of(get(PUBLIC, all_of_it)) == posts[:20]


@pytest.fixture
def short_list(posts, monkeypatch):
    monkeypatch.setattr(cache, "MOST_LISTED", 6)
    return posts


def test_what_is_below_the_list_comes_from_the_index(short_list, monkeypatch):
    monkeypatch.setattr(public_posts, "BATCH", 5)
    posts, get = short_list, Client().get
    assert ids_of(get(PUBLIC, {"limit": 40})) == posts
    assert ids_of(get(PUBLIC, {"limit": 7, "max_id": posts[3]})) == posts[4:11]
    assert ids_of(get(PUBLIC, {"limit": 7, "max_id": posts[20]})) == posts[21:28]
    assert ids_of(get(PUBLIC, {"limit": 40, "since_id": posts[20]})) == posts[:20]
    found, path = [], f"{PUBLIC}?limit=7"
    while path:
        answer = get(path)
        found += ids_of(answer)
        path = next_link(answer)
    assert found == posts


def test_a_client_that_polls_from_below_the_list_misses_no_post(short_list, people):
    posts = short_list
    for get in (Client().get, Caller(people[0]).get):
        found = [posts[-1]]
        while page := ids_of(get(PUBLIC, {"limit": 7, "min_id": found[-1]})):
            found += page[::-1]
        assert found == posts[::-1]


@pytest.mark.parametrize("cursor", ["max_id", "min_id", "since_id"])
def test_a_cursor_from_before_the_index_is_refused(short_list, cursor):
    for alias in settings.SHARD_ALIASES:
        raise_low_water_mark(alias, PostId.from_public(short_list[20]).second)
    get = Client().get
    assert get(PUBLIC, {"limit": 40, cursor: short_list[19]}).status_code == 200
    refused = get(PUBLIC, {"limit": 40, cursor: short_list[21]})
    assert refused.status_code == 422
    assert refused.json()["error"] == "The public timeline does not go back so far"


def test_a_page_that_is_full_above_the_end_of_the_index_is_served(short_list):
    for alias in settings.SHARD_ALIASES:
        raise_low_water_mark(alias, PostId.from_public(short_list[20]).second)
    page = Client().get(PUBLIC, {"limit": 15, "since_id": short_list[25]})
    assert ids_of(page) == short_list[:15]


def test_nobody_posted(world):
    answer = Client().get(PUBLIC)
    assert (answer.status_code, orjson.loads(answer.content)) == (200, [])
    assert "Link" not in answer


def test_a_bad_token_is_refused_though_none_is_needed(posts):
    assert Client().get(PUBLIC, headers={"authorization": "Bearer no"}).status_code == 401


def test_warm_it_costs_two_round_trips_and_no_query(people):
    made = [publish(people[1 + n % 4]) for n in range(24)]
    index_everywhere([Entry.of_post(post) for post in made], 0)
    for get in (Client().get, Caller(people[0]).get):
        get(PUBLIC)
        with count_calls() as calls:
            assert len(ids_of(get(PUBLIC))) == 20
        assert calls.statements == []
        assert calls.round_trips <= 3, "one of them the quota's"


def test_own_post_is_on_it_at_the_next_read(people, posts):
    me = Caller(people[0])
    before = ids_of(me.get(PUBLIC))
    made = me.post("/api/v1/statuses", {"status": "hello"}).json()["id"]
    me.post("/api/v1/statuses", {"status": "secret", "visibility": "private"})
    assert ids_of(me.get(PUBLIC)) == [made, *before[:19]]
    assert ids_of(me.get(PUBLIC, {"min_id": before[0]})) == [made]
    assert me.delete(f"/api/v1/statuses/{made}").status_code == 200
    assert ids_of(me.get(PUBLIC)) == before


def test_without_redis_it_is_the_same(posts):
    redis().call("FLUSHDB")
    assert ids_of(Client().get(PUBLIC)) == posts[:20]


def test_one_shard_down_leaves_the_others_posts(people, posts, monkeypatch):
    down, aliases = shard_of(people[1]), settings.SHARD_ALIASES

    def fetch_unless_down(alias, *args):
        if alias == down:
            raise OperationalError
        return fetch_all(alias, *args)

    for module in (newest_posts, public_posts):
        monkeypatch.setattr(module, "fetch_all", fetch_unless_down)
    expected = [post for post in posts if shard_of(PostId.from_public(post).author_id) != down]
    for first in range(len(aliases)):
        monkeypatch.setattr("random.randrange", lambda _, first=first: first)
        assert [i.public for i in list_newest_public(100, {})] == expected


def test_no_shard_is_said(posts, monkeypatch):
    def fetch_nothing(*_):
        raise OperationalError

    monkeypatch.setattr(newest_posts, "fetch_all", fetch_nothing)
    with pytest.raises(OperationalError):
        list_newest_public(100, {})


def list_now():
    """Reads the shards again; the list is fresh for ten seconds."""
    redis().call("DEL", cache.public_ids.key(cache.ALL_AUTHORS))
    return answer(cache.ask_public_list())


def test_a_post_is_on_the_list_since_the_list_that_had_it_first(posts, people):
    first = list_now()
    late = publish(people[0], clock_s=lambda: EPOCH + 50)
    index_everywhere([Entry.of_post(late)], 0)
    second, third = list_now(), list_now()
    assert first.at_ms < second.at_ms < third.at_ms
    assert second.listed == third.listed == first.listed | {late: second.at_ms}


def test_a_post_stays_on_the_list_when_a_shard_without_it_is_read(posts):
    before = list_now().listed
    for alias in settings.SHARD_ALIASES:
        execute(alias, "DELETE FROM timelines_recentpost WHERE author_id %% 2 = 0")
    delete_post(next(iter(before)))
    assert list_now().listed == dict(list(before.items())[1:])


@pytest.mark.parametrize("key", [cache.BEFORE, cache.public_ids.key(cache.ALL_AUTHORS)])
def test_a_list_that_another_program_wrote_is_read_from_the_shards_in_time(posts, key):
    list_now()
    redis().call("SET", key, b"1:99999999999:garbage")
    assert Client().get(PUBLIC).status_code == 200
    assert len(list_now().listed) == len(posts)
