"""Hot authors are not pushed, and pages merge their entries: none is missing or repeated.

The set of hot authors and their entries: content and cost.

An author cools between the first round trip of a page and the decoding of its replies.

Authors who become hot and cool in any history: no entry is missing or repeated.
"""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.caching.client import redis
from infra.caching.remembered import forget_answers
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.integration.timelines.stars import Fans
from tests.races import failures, run_together
from tests.world import clean, drain_all, make_accounts, publish
from timelines.home import page
from timelines.hot import entries as entries_module
from timelines.hot.actions.cool import cool_shard
from timelines.hot.actions.heat import heat_author
from timelines.hot.directory import SET, add_hot_authors, load_hot_authors, make_validator
from timelines.hot.entries import hot_entries_store, load_hot_entries
from timelines.hot.queries.hot_authors import list_hot_authors, list_unpushed_authors

Drain = Callable[[], int]


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
    (unrelated,) = make_accounts(1)
    original = publish(unrelated, clock_s=lambda: EPOCH + 500)
    repost(fans.friend, original, clock_s=lambda: EPOCH + 2000)
    last = repost(fans.star, original, clock_s=lambda: EPOCH + 3000)
    drain()
    assert first_page(fans.me) == [last.public, *fans.expected()]


@pytest.mark.parametrize("lost", ["set", "hot_entries", "timeline", "all"])
def test_whatever_redis_loses_nothing_is_missing(fans: Fans, drain: Drain, lost: str) -> None:
    fans.heat()
    fans.post()
    drain()
    read_to_end(fans.me)
    hot_entries = b"timelines.hot_entries:v1:{%d}" % fans.star
    keys = {"set": SET, "hot_entries": hot_entries, "timeline": b"timelines.home:v1:{%d}" % fans.me}
    assert redis().call("FLUSHDB") if lost == "all" else redis().call("DEL", keys[lost]) == 1
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()


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
    assert list_hot_authors(fans.shard) == []
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert fans.stored() == len(fans.posts)
    assert read_to_end(fans.me) == fans.expected()


def test_who_is_hot_again_before_it_ended_stays_hot(fans: Fans, drain: Drain) -> None:
    fans.heat()
    fans.cool()
    heat_author(fans.shard, fans.star)
    fans.post()
    drain()
    assert list_hot_authors(fans.shard) == [fans.star]
    assert read_to_end(fans.me) == fans.expected()


def test_a_few_followers_to_and_fro_change_nothing(fans: Fans, drain: Drain) -> None:
    fans.heat()
    assert cool_shard(fans.shard) == []
    fans.post()
    drain()
    assert list_unpushed_authors(fans.shard, [fans.star]) == {fans.star}


def test_many_posts_of_theirs_are_read_to_the_first(fans, drain: Drain, monkeypatch) -> None:
    monkeypatch.setattr(entries_module, "ENTRIES_PER_AUTHOR", 4)
    hot_entries_store.cache_clear()
    fans.heat()
    for _ in range(12):
        fans.post()
        fans.post(fans.friend)
    drain()
    for limit in (1, 5):
        assert read_to_end(fans.me, limit) == fans.expected()
        assert read_from_bottom(fans.me, limit) == fans.expected()
    hot_entries_store.cache_clear()


def test_an_author_added_while_the_set_is_read_is_in_it(fans: Fans, drain: Drain) -> None:
    """Between reading the shards and writing the set."""
    claim = b"\0" + b"7" * 7
    redis().call("SET", SET, claim)
    fans.heat()
    fans.post()
    drain()
    assert redis().call("GET", SET) != claim, "a write with this claim is refused"
    assert load_hot_authors().ids == (fans.star,)
    assert read_to_end(fans.me) == fans.expected()


def test_the_set_changes_its_validator_only_when_it_changes(world: None) -> None:
    redis().call("SET", SET, make_validator())
    (author,) = make_accounts(1)
    validators = []
    for authors in (set(), {author}, {author}, {author + 1}):
        add_hot_authors(authors)
        validators.append(redis().call("GETRANGE", SET, 0, 7))
    assert [
        validators[0] != validators[1],
        validators[1] == validators[2],
        validators[2] != validators[3],
    ] == [True] * 3
    assert load_hot_authors().ids == (author, author + 1)


def test_a_warm_page_costs_one_round_trip(fans: Fans, drain: Drain) -> None:
    fans.heat()
    fans.post()
    drain()
    first_page(fans.me)
    with count_calls() as calls:
        assert len(load_hot_entries([fans.star])) == 1
    assert (calls.statements, calls.round_trips) == ([], 1)
    first_page(fans.me)
    with count_calls() as calls:
        assert first_page(fans.me) == fans.expected()
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_entries_built_while_they_are_pushed_to_lack_nothing(fans: Fans, monkeypatch) -> None:
    fans.heat()
    redis().call("DEL", b"timelines.hot_entries:v1:{%d}" % fans.star)
    read, going = entries_module.list_newest_entries, threading.Event()

    def slow(*args: int) -> object:
        found = read(*args)
        if not going.is_set():
            going.set()
            fans.post()
            drain_all()
        return found

    monkeypatch.setattr(entries_module, "list_newest_entries", slow)
    load_hot_entries([fans.star])
    assert going.is_set()
    assert read_to_end(fans.me) == fans.expected()


@pytest.mark.parametrize("pages_before", [1, 3])
def test_a_page_read_while_an_author_cools_has_no_hole(fans, monkeypatch, pages_before):
    fans.heat()
    fans.post()
    drain_all()
    fans.post(fans.friend)
    drain_all()
    for _ in range(pages_before):
        assert first_page(fans.me) == fans.expected()
    reader, cooled = page.HomeReader, []

    def others_run():
        fans.cool()
        drain_all()

    def ask_and_wait(*args, **kwargs):
        asked = reader(*args, **kwargs)
        if not cooled:
            cooled.append(True)
            assert failures(run_together([others_run])) == []
        return asked

    monkeypatch.setattr(page, "HomeReader", ask_and_wait)
    forget_answers()
    assert first_page(fans.me) == fans.expected()
    assert cooled
    assert first_page(fans.me) == fans.expected()


PEOPLE = 5
person = st.integers(0, PEOPLE - 1)
step = st.one_of(
    step_of("publish", person),
    step_of("publish", st.just(0)),
    step_of("follow", person, st.just(0)),
    step_of("unfollow", person, st.just(0)),
    step_of("follow", person, person),
    step_of("read", person),
    step_of("drain"),
    step_of("cool"),
    step_of("flush"),
    step_of("evict", st.sampled_from(["set", "hot_entries", "home"]), person),
)


@examples(40)
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
            family = {"set": "hot:v1:{0}", "hot_entries": f"hot_entries:v1:{{{people[what]}}}"}
            redis().call("DEL", "timelines." + family.get(who, f"home:v1:{{{people[what]}}}"))
    drain_all()
    for reader in people:
        mine = [p for author in (reader, *following[reader]) for p in posts[author]]
        assert read_to_end(reader, 4) == [p.public for p in sorted(mine, reverse=True)]
        assert read_from_bottom(reader, 3) == [p.public for p in sorted(mine, reverse=True)]
