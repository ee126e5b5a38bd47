"""The recent-posts index by author: packs lose nothing and repeat nothing.

Not when Redis or the worker is lost, nor when another process has the other setting.
"""

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import FIRST, LAST, PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.dying import armed, dying_at
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.indexed import complete_index
from tests.world import drain_all, flush_redis, make_accounts, publish
from timelines.checks import check_recent_index
from timelines.polling.late_posts import load_late_posts
from timelines.queries.pull import pull, pull_from_tables
from timelines.recent import low_water_mark, packs
from timelines.recent.actions import index_own
from timelines.recent.low_water_mark import find_low_water_mark, find_own_mark, has_own_only
from timelines.recent.packs import MOST_BYTES, load_packs
from timelines.recent.queries.late_rows import PolledAuthors
from timelines.recent.queries.own_posts import MOST
from timelines.recent.queries.public_posts import list_newest_public
from timelines.recent.records import Arrivals, Pack
from timelines.stores.factory import timeline_store
from timelines.types import Entry, TimelineAuthors, TimeRange
from timelines.verbs import BackfillRecentPosts

BOTH = pytest.mark.redis("single", "cluster")
ALIASES = settings.SHARD_ALIASES
ROWS = "SELECT author_id, moment FROM timelines_recentpost"


@pytest.fixture
def by_author(world, settings):
    settings.RECENT_INDEX = "by_author"
    return settings


@pytest.fixture
def reader_of_two(by_author):
    me, author, other = make_accounts(3)
    follow(me, author)
    follow(me, other)
    complete_index(0)
    drain_all()
    return me, author, other


def key_of(author):
    return packs._key_of(author)


def events(author):
    """What the pack has, with repeats."""
    packed = Pack.from_packed(redis().call("GET", key_of(author)))
    return sorted(Arrivals({author: packed}).list_late(LAST, -1))


def pulled(reader_of_two):
    me, *others = reader_of_two
    return [e.event for e in pull(TimelineAuthors(me, others), TimeRange(), 600)]


def rows():
    return {alias: len(fetch_all(alias, ROWS)) for alias in ALIASES}


def test_a_post_is_one_row_on_the_shard_of_its_author(reader_of_two):
    _, author, _ = reader_of_two
    publish(author)
    drain_all()
    assert rows() == {alias: int(alias == shard_of(author)) for alias in ALIASES}


@BOTH
def test_a_warm_pull_is_one_round_trip_and_the_readers_own_posts(reader_of_two):
    me, author, other = reader_of_two
    posts = [publish(author), publish(other), publish(me)]
    drain_all()
    pulled(reader_of_two)
    with count_calls() as calls:
        assert pulled(reader_of_two) == sorted(posts, reverse=True)
    assert (calls.round_trips, sum(calls.sql.values())) == (1, 1)


@BOTH
def test_the_worker_appends_to_a_pack_that_is_there_and_makes_none(reader_of_two):
    _, author, _ = reader_of_two
    first = publish(author)
    drain_all()
    assert redis().call("GET", key_of(author)) is None
    pulled(reader_of_two)
    second, event = publish(author), repost(author, first)
    drain_all()
    assert [e.entry for e in events(author)] == [
        Entry.of_post(first), Entry.of_post(second), Entry(event, first)
    ]  # fmt: skip


@BOTH
@pytest.mark.parametrize("lose", ["evict", "flush", "plant"])
def test_what_redis_lost_is_loaded_again(reader_of_two, lose):
    _, author, _ = reader_of_two
    first = publish(author)
    drain_all()
    pulled(reader_of_two)
    if lose == "flush":
        flush_redis()
    else:
        redis().call("DEL", key_of(author))
    if lose == "plant":
        redis().call("SET", key_of(author), b"no pack at all")
    second = publish(author)
    drain_all()
    assert pulled(reader_of_two) == [second, first]
    assert [e.entry.event for e in events(author)] == [first, second]


def test_a_load_that_began_before_an_append_is_not_stored(reader_of_two, monkeypatch):
    _, author, _ = reader_of_two
    read = packs.read_packs

    def read_then_publish(alias, authors):
        found = read(alias, authors)
        monkeypatch.setattr(packs, "read_packs", read)
        publish(author)
        drain_all()
        return found

    monkeypatch.setattr(packs, "read_packs", read_then_publish)
    assert load_packs([author])[author].records == b""
    assert redis().call("GET", key_of(author)) is None
    assert len(pulled(reader_of_two)) == 1


def test_a_load_between_the_row_and_the_append_repeats_and_shows_once(reader_of_two):
    _, author, _ = reader_of_two
    publish(author)
    with armed("recent_posts.own_rows_added", lambda: load_packs([author])):
        drain_all()
    assert len(load_packs([author])[author].records) == 2 * 10
    assert len(pulled(reader_of_two)) == 1


def test_a_worker_that_dies_before_the_append_is_repeated(reader_of_two):
    _, author, _ = reader_of_two
    pulled(reader_of_two)
    post = publish(author)
    with dying_at("recent_posts.own_rows_added"):
        drain_all()
    assert pulled(reader_of_two) == [], "nor was it pushed to anybody"
    drain_all()
    assert pulled(reader_of_two) == [post]


def test_without_redis_the_shards_answer(reader_of_two, monkeypatch):
    from redis.exceptions import ConnectionError as Away  # noqa: PLC0415

    _, author, _ = reader_of_two
    post = publish(author)
    drain_all()

    def away(*_):
        raise Away

    with monkeypatch.context() as patch:
        patch.setattr(type(redis()), "run", away)
        assert pulled(reader_of_two) == [post]


@BOTH
def test_a_deleted_post_leaves_row_and_pack(reader_of_two):
    _, author, _ = reader_of_two
    gone, kept = publish(author), publish(author)
    drain_all()
    pulled(reader_of_two)
    delete_post(gone)
    drain_all()
    assert rows()[shard_of(author)] == 1
    assert [e.event for e in Arrivals(load_packs([author])).list_entries(
        TimeRange(FIRST, LAST), 0, 9, True)] == [kept]  # fmt: skip


@BOTH
def test_a_pack_is_cut_and_older_posts_come_from_the_shards(reader_of_two, monkeypatch):
    """Reposts have two records, and a cut falls between them."""
    me, author, other = reader_of_two
    monkeypatch.setattr(packs, "LEAST_BYTES", 8 + 10 * 10)
    monkeypatch.setattr(packs, "MOST_BYTES", 8 + 10 * 13)
    pulled(reader_of_two)
    for n in range(40):
        post = publish(author, clock_s=lambda n=n: 1_900_000_000 + n)
        if n % 3 == 0:
            repost(other, post, clock_s=lambda n=n: 1_900_000_000 + n)
        drain_all()
        size = len(redis().call("GET", key_of(author)))
        assert size <= packs.MOST_BYTES
        assert pulled(reader_of_two) == [
            e.event for e in pull_from_tables([me, author, other], TimeRange(), 600)
        ]
    assert load_packs([author])[author].complete_from > 0


def test_an_author_with_more_posts_than_a_pack_has(reader_of_two, monkeypatch):
    _, author, _ = reader_of_two
    assert MOST_BYTES > 8 + MOST * 10
    monkeypatch.setattr("timelines.recent.queries.own_posts.MOST", 5)
    posts = [publish(author, clock_s=lambda n=n: 1_900_000_000 + n) for n in range(9)]
    drain_all()
    assert pulled(reader_of_two) == posts[::-1]


def test_a_pack_below_the_mark_has_the_posts_of_the_table(reader_of_two):
    """Posts from before the index begin, and one that has not arrived above it."""
    _, author, _ = reader_of_two
    old = publish(author, clock_s=lambda: 1_900_000_000)
    drain_all()
    for alias in ALIASES:
        execute(alias, "DELETE FROM timelines_recentpost")
        low_water_mark.raise_low_water_mark(alias, old.second + 1)
    flush_redis()
    publish(author, clock_s=lambda: 1_900_000_100)
    assert [e.entry.event for e in _loaded(author)] == [old]


def _loaded(author):
    return Arrivals(load_packs([author])).list_late(LAST, -1)


class TestMixedSettings:
    """Processes with both settings, restarted in any order: no page is wrong."""

    def test_the_first_worker_by_author_makes_no_index_look_whole(self, world, settings):
        me, author = make_accounts(2)
        follow(me, author)
        complete_index(0)
        before = publish(author)
        drain_all()
        settings.RECENT_INDEX = "by_author"
        after = publish(author)
        drain_all()
        assert [find_low_water_mark(alias) for alias in ALIASES] == [None] * len(ALIASES)
        assert [find_own_mark(alias) for alias in ALIASES] == [0] * len(ALIASES)
        settings.RECENT_INDEX = "replicated"
        timeline_store().drop(me)
        assert first_page(me) == [after.public, before.public]
        assert set(list_newest_public(9, {})) == {before, after}

    def test_a_poll_finds_late_posts_wherever_they_are(self, reader_of_two, settings):
        me, author, _ = reader_of_two
        settings.RECENT_INDEX = "by_author"
        post = publish(author)
        drain_all()
        settings.RECENT_INDEX = "replicated"
        late = load_late_posts(PolledAuthors(me), PostId(post.second + 1, 1, 0), 0)
        assert [one.event for one in late.posts] == [post]

    def test_packs_are_right_while_workers_still_replicate(self, reader_of_two, settings):
        _, author, _ = reader_of_two
        pulled(reader_of_two)
        settings.RECENT_INDEX = "replicated"
        post = publish(author)
        drain_all()
        settings.RECENT_INDEX = "by_author"
        assert pulled(reader_of_two) == [post]

    def test_a_shard_that_is_away_keeps_the_first_worker_from_writing(
        self, world, settings, monkeypatch
    ):
        (author,) = make_accounts(1)
        complete_index(0)
        settings.RECENT_INDEX = "by_author"
        publish(author)
        with monkeypatch.context() as patch:
            patch.setattr(index_own, "begin_own_only", _away)
            drain_all()
        assert sum(rows().values()) == 0
        assert find_low_water_mark(ALIASES[0]) == 0

    def test_back_to_all_shards_with_a_backfill(self, reader_of_two, settings):
        me, author, _ = reader_of_two
        post = publish(author)
        drain_all()
        settings.RECENT_INDEX = "replicated"
        assert [one.id for one in checked()] == ["timelines.W001"]
        timeline_store().drop(me)
        assert first_page(me) == [post.public]
        call_command("backfill", "recent-posts", verbosity=0)
        assert checked() == []
        assert set(rows().values()) == {1}
        timeline_store().drop(me)
        assert first_page(me) == [post.public]
        assert None not in [find_low_water_mark(alias) for alias in ALIASES]

    def test_a_worker_by_author_that_still_runs_undoes_the_backfill(self, reader_of_two, settings):
        me, author, _ = reader_of_two
        settings.RECENT_INDEX = "replicated"
        call_command("backfill", "recent-posts", verbosity=0)
        settings.RECENT_INDEX = "by_author"
        post = publish(author)
        drain_all()
        settings.RECENT_INDEX = "replicated"
        assert all(map(has_own_only, ALIASES))
        timeline_store().drop(me)
        assert first_page(me) == [post.public]

    def test_the_check_says_what_has_not_begun(self, world, settings):
        assert checked() == []
        settings.RECENT_INDEX = "by_author"
        assert [one.id for one in checked()] == ["timelines.I001"]
        settings.RECENT_INDEX = "replicated"
        settings.SHARD_ALIASES = [*ALIASES, *ALIASES, "another"]
        assert [one.id for one in checked()] == ["timelines.W002"]


def _away():
    raise OperationalError


def checked():
    return check_recent_index(None, ALIASES)


def test_a_backfill_gives_each_shard_the_posts_of_its_own_accounts(reader_of_two):
    _, author, other = reader_of_two
    posts = sorted([publish(author), publish(other)])
    drain_all()
    pulled(reader_of_two)
    for alias in ALIASES:
        execute(alias, "DELETE FROM timelines_recentpost")
    call_command(BackfillRecentPosts(), again=True, verbosity=0)
    mine = {alias: sum(shard_of(i.author_id) == alias for i in posts) for alias in ALIASES}
    assert rows() == mine
    assert pulled(reader_of_two) == posts[::-1]
