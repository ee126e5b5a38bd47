"""Hot authors are not pushed: pages merge their outboxes in. No hole, no double, either way."""

import threading
from collections.abc import Callable, Iterator

import hypothesis
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pytest_django import Settings

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.world import clean, drain_all, make_accounts, publish
from timelines.hot import outboxes as outboxes_module
from timelines.hot.directory import SET, Directory, announce_commands, directory, new_stamp
from timelines.hot.heating import cool_shard
from timelines.hot.outboxes import Outboxes, outbox_store
from timelines.hot.states import find_unpushed, heat, list_hot
from timelines.stores.chosen import timeline_store

Drain = Callable[[], int]


@pytest.fixture(autouse=True)
def low_threshold(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three followers make an author hot, two let them cool; copies are never fresh."""
    settings.INLINE_FOLLOWERS, settings.HOT_FOLLOWERS = 2, 3
    settings.CHUNK_FOLLOWERS = 1
    monkeypatch.setattr(outboxes_module, "COPY_S", -1.0)


class Fans:
    """A star whom everybody follows, a friend whom I follow."""

    def __init__(self, followers: int = 3) -> None:
        self.star, self.friend, *self.fans = make_accounts(followers + 2)
        self.me = self.fans[0]
        for fan in self.fans:
            follow(fan, self.star)
        follow(self.me, self.friend)
        drain_all()
        self.posts: list[PostId] = []

    def post(self, author: int | None = None) -> PostId:
        post = publish(author or self.star, clock_s=lambda: EPOCH + 1000 + 10 * len(self.posts))
        self.posts.append(post)
        return post

    @property
    def shard(self) -> str:
        return shard_of(self.star)

    def heat(self) -> None:
        """By a post, as it happens: that one is pushed still."""
        self.post()
        drain_all()
        assert find_unpushed(self.shard, [self.star]) == {self.star}

    def cool(self) -> None:
        for fan in self.fans[1:]:
            unfollow(fan, self.star)
        drain_all()
        assert cool_shard(self.shard) == [self.star]
        assert find_unpushed(self.shard, [self.star]) == set()

    def expected(self) -> list[str]:
        return [post.public for post in sorted(self.posts, reverse=True)]

    def stored(self) -> int:
        """Entries in my live timeline, as the store has it."""
        replies = redis().run(timeline_store().read_commands(self.me))
        live = timeline_store().load(self.me, replies)
        assert live is not None
        return len(set(live.packed))


@pytest.fixture
def fans(world: None) -> Fans:
    fans = Fans()
    first_page(fans.me)
    return fans


def test_a_hot_author_is_not_pushed_and_shown_all_the_same(fans: Fans, drain: Drain) -> None:
    fans.heat()
    assert fans.stored() == 1
    for _ in range(3):
        fans.post()
        fans.post(fans.friend)
    drain()
    assert fans.stored() == 4
    for limit in (2, 40):
        assert read_to_end(fans.me, limit) == fans.expected()
        assert read_from_bottom(fans.me, limit) == fans.expected()


def test_their_posts_come_and_go_like_others(fans: Fans, drain: Drain) -> None:
    fans.heat()
    gone, kept = fans.post(), fans.post()
    drain()
    delete_post(gone)
    fans.posts.remove(gone)
    assert read_to_end(fans.me) == fans.expected(), "deleted, and no drain has run"
    unfollow(fans.me, fans.star)
    assert read_to_end(fans.me) == [], "unfollowed, and no drain has run"
    follow(fans.me, fans.star)
    assert read_to_end(fans.me) == fans.expected(), "followed, and no drain has run"
    mute(fans.me, fans.star)
    assert read_to_end(fans.me) == []
    assert kept.public in read_to_end(fans.fans[1])


def test_their_reposts_merge_with_others(fans: Fans, drain: Drain) -> None:
    fans.heat()
    (stranger,) = make_accounts(1)
    original = publish(stranger, clock_s=lambda: EPOCH + 500)
    repost(fans.friend, original, clock_s=lambda: EPOCH + 2000)
    last = repost(fans.star, original, clock_s=lambda: EPOCH + 3000)
    drain()
    assert first_page(fans.me) == [last.public, *fans.expected()]


@pytest.mark.parametrize("lost", ["set", "outbox", "timeline", "all"])
def test_whatever_redis_loses_nothing_is_missing(fans: Fans, drain: Drain, lost: str) -> None:
    fans.heat()
    fans.post()
    drain()
    read_to_end(fans.me)
    outbox = b"timelines.outbox:v1:{%d}" % fans.star
    keys = {"set": SET, "outbox": outbox, "timeline": b"timelines.home:v1:{%d}" % fans.me}
    assert redis().call("FLUSHDB") if lost == "all" else redis().call("DEL", keys[lost]) == 1
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()


def test_many_posts_of_theirs_are_read_to_the_first(fans, drain: Drain, monkeypatch) -> None:
    monkeypatch.setattr(outboxes_module, "OUTBOX_ENTRIES", 4)
    outbox_store.cache_clear()
    fans.heat()
    for _ in range(12):
        fans.post()
        fans.post(fans.friend)
    drain()
    for limit in (1, 5):
        assert read_to_end(fans.me, limit) == fans.expected()
        assert read_from_bottom(fans.me, limit) == fans.expected()
    outbox_store.cache_clear()


def test_who_cools_is_pushed_again_and_nothing_is_missing(fans: Fans, drain: Drain) -> None:
    fans.heat()
    for _ in range(3):
        fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()
    fans.cool()
    assert read_to_end(fans.me) == fans.expected(), "still merged"
    fans.post()
    drain()
    assert list_hot(fans.shard) == []
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert fans.stored() == len(fans.posts)
    assert read_to_end(fans.me) == fans.expected()


def test_who_is_hot_again_before_it_ended_stays_hot(fans: Fans, drain: Drain) -> None:
    fans.heat()
    fans.cool()
    heat(fans.shard, fans.star)
    fans.post()
    drain()
    assert list_hot(fans.shard) == [fans.star]
    assert read_to_end(fans.me) == fans.expected()


def test_a_few_followers_to_and_fro_change_nothing(fans: Fans, drain: Drain) -> None:
    fans.heat()
    assert cool_shard(fans.shard) == []
    fans.post()
    drain()
    assert find_unpushed(fans.shard, [fans.star]) == {fans.star}


def test_an_author_announced_while_the_set_is_read_is_in_it(fans: Fans, drain: Drain) -> None:
    """Between the reading of the shards and the laying of the set."""
    claim = b"\0" + b"7" * 7
    redis().call("SET", SET, claim)
    fans.heat()
    fans.post()
    drain()
    assert redis().call("GET", SET) != claim, "whoever lays on this claim is refused"
    assert Directory().find(None).ids == (fans.star,)
    assert read_to_end(fans.me) == fans.expected()


def test_the_set_changes_its_stamp_only_when_it_changes(world: None) -> None:
    redis().call("SET", SET, new_stamp())
    (author,) = make_accounts(1)
    stamps = []
    for authors in (set(), {author}, {author}, {author + 1}):
        redis().run(announce_commands(authors))
        stamps.append(redis().call("GETRANGE", SET, 0, 7))
    assert [stamps[0] != stamps[1], stamps[1] == stamps[2], stamps[2] != stamps[3]] == [True] * 3
    assert directory.find(stamps[3]).ids == (author, author + 1)


def test_a_warm_page_costs_one_round_trip(fans: Fans, drain: Drain, monkeypatch) -> None:
    fans.heat()
    fans.post()
    drain()
    first_page(fans.me)
    with count_calls() as calls:
        assert len(Outboxes().find([fans.star])) == 1
    assert (calls.statements, calls.round_trips) == ([], 1), "a process that begins"
    monkeypatch.setattr(outboxes_module, "COPY_S", 60.0)
    first_page(fans.me)
    with count_calls() as calls:
        assert first_page(fans.me) == fans.expected()
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_a_copy_is_given_out_for_a_second(fans: Fans, drain: Drain, monkeypatch) -> None:
    monkeypatch.setattr(outboxes_module, "COPY_S", 1.0)
    now_s = 100.0
    fans.heat()
    copies = Outboxes(lambda: now_s)
    (before,) = copies.find([fans.star])
    fans.post()
    drain()
    now_s = 101.0
    assert copies.find([fans.star]) == [before]
    now_s = 101.1
    (after,) = copies.find([fans.star])
    assert len(after.entries) == len(before.entries) + 1


def test_an_outbox_built_while_it_is_pushed_to_lacks_nothing(fans: Fans, monkeypatch) -> None:
    fans.heat()
    redis().call("DEL", b"timelines.outbox:v1:{%d}" % fans.star)
    read, going = outboxes_module.newest_entries, threading.Event()

    def slow(*args: int) -> object:
        found = read(*args)
        if not going.is_set():
            going.set()
            fans.post()
            drain_all()
        return found

    monkeypatch.setattr(outboxes_module, "newest_entries", slow)
    Outboxes().find([fans.star])
    assert going.is_set()
    assert read_to_end(fans.me) == fans.expected()


PEOPLE = 5
person = st.integers(0, PEOPLE - 1)
step = st.one_of(
    st.tuples(st.just("publish"), person, st.none()),
    st.tuples(st.just("publish"), st.just(0), st.none()),
    st.tuples(st.just("follow"), person, st.just(0)),
    st.tuples(st.just("unfollow"), person, st.just(0)),
    st.tuples(st.just("follow"), person, person),
    st.tuples(st.just("read"), person, st.none()),
    st.tuples(st.just("drain"), st.none(), st.none()),
    st.tuples(st.just("cool"), st.none(), st.none()),
    st.tuples(st.just("flush"), st.none(), st.none()),
    st.tuples(st.just("evict"), st.sampled_from(["set", "outbox", "home"]), person),
)


@pytest.fixture
def tiny_timelines(settings: Settings) -> Iterator[None]:
    settings.TIMELINE_ENTRIES = 6
    timeline_store.cache_clear()
    yield
    timeline_store.cache_clear()


@hypothesis.settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(step, max_size=50))
def test_crossing_either_way_leaves_no_hole_and_no_double(
    world: None, low_threshold: None, tiny_timelines: None, steps: list
) -> None:
    clean()
    people = make_accounts(PEOPLE)
    posts: dict[int, list[PostId]] = {account: [] for account in people}
    following: dict[int, set[int]] = {account: set() for account in people}
    second = iter(range(EPOCH + 100, EPOCH + 1_000))
    for fan in people[1:]:
        follow(fan, people[0])
        following[fan].add(people[0])
    drain_all()
    for name, who, what in steps:
        if name == "publish":
            posts[people[who]].append(publish(people[who], clock_s=lambda: next(second)))
        elif name == "follow" and who != what:
            follow(people[who], people[what])
            following[people[who]].add(people[what])
        elif name == "unfollow":
            unfollow(people[who], people[what])
            following[people[who]].discard(people[what])
        elif name == "read":
            read_to_end(people[who], 3)
        elif name == "drain":
            drain_all()
        elif name == "cool":
            cool_shard(shard_of(people[0]))
        elif name == "flush":
            redis().call("FLUSHDB")
        elif name == "evict":
            family = {"set": "hot:v1:{0}", "outbox": f"outbox:v1:{{{people[what]}}}"}
            redis().call("DEL", "timelines." + family.get(who, f"home:v1:{{{people[what]}}}"))
    drain_all()
    for reader in people:
        mine = [p for author in (reader, *following[reader]) for p in posts[author]]
        assert read_to_end(reader, 4) == [p.public for p in sorted(mine, reverse=True)]
        assert read_from_bottom(reader, 3) == [p.public for p in sorted(mine, reverse=True)]
