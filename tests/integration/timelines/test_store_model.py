"""Random use of every store: a readable timeline equals the model above its low-water mark.

Builds of the two tiers: a reader between the two halves, a process that dies there, and rows
that do not fill a page.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from hypothesis import example, given
from hypothesis import strategies as st
from redis.exceptions import RedisError

from infra.api.pages import Window
from infra.caching.client import redis
from posts.ids import PostId
from relations.actions.follow import follow
from tests.budgets import Calls, count_calls
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.stores import KINDS, Kind, entries, read
from tests.races import failures, run_together
from tests.redis_away import wait_for_redis
from tests.world import clean, drain_all, find_live, forget_memory, make_account, publish
from timelines.home.page import home_page
from timelines.stores import postgres, rows
from timelines.stores.factory import timeline_store
from timelines.stores.interface import FollowingChange
from timelines.stores.packed import FAMILY, PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.types import Entry, LiveTimeline

READER, AUTHORS = 42, 3
author = st.integers(0, AUTHORS - 1)
step = st.one_of(
    st.tuples(st.just("publish"), author, st.integers(0, 12)),
    st.tuples(st.just("publish"), author, st.integers(0, 12)),
    st.tuples(st.just("publish"), author, st.integers(0, 12)),
    st.tuples(st.just("burst"), author, st.integers(5, 25)),
    st.tuples(st.just("follow"), author, st.just(0)),
    st.tuples(st.just("unfollow"), author, st.just(0)),
    st.tuples(st.just("skip_step"), author, st.just(0)),
    st.tuples(st.just("begin"), st.just(0), st.integers(0, 6)),
    st.tuples(st.just("finish_build"), st.just(0), st.just(0)),
    st.tuples(st.just("build"), st.just(0), st.integers(0, 6)),
    st.tuples(st.just("remove"), author, st.just(0)),
    st.tuples(st.just("drop"), st.just(0), st.just(0)),
    st.tuples(st.just("lose"), st.just(0), st.just(0)),
    st.tuples(st.just("evict"), st.just(0), st.integers(0, 2)),
    st.tuples(st.just("rebuild_after_evict"), st.just(0), st.integers(0, 2)),
    st.tuples(st.just("age"), st.just(0), st.sampled_from([5, 20, 70])),
)


class Model:
    """One reader, three authors, and what each published: a set, no store."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.store = kind, kind.make()
        self.posts: list[list[Entry]] = [[] for _ in range(AUTHORS)]
        self.followed: set[int] = {0}
        self.version, self.sequence, self.epoch = 1, 0, 0
        self.computed: LiveTimeline | None = None
        self.has_skipped = False

    def home(self, mark: int) -> list[bytes]:
        shown = (one for who in self.followed for one in self.posts[who])
        return sorted(one.packed for one in shown if one.event.second >= mark)

    def publish(self, who: int, second: int) -> None:
        self.sequence += 1
        event = PostId(second, who + 1, self.sequence)
        original = PostId(0, 35, 1) if self.sequence % 3 else event
        self.posts[who].append(Entry(event, original))
        if who in self.followed:
            self.store.push({READER: [Entry(event, original)]})

    def burst(self, who: int, count: int) -> None:
        for nth in range(count):
            self.publish(who, nth)

    def follow(self, who: int, _: int) -> None:
        self.followed.add(who)
        self.version += 1
        reach = self.store.find_complete_from(READER)
        if reach is not None:
            added = [one for one in self.posts[who] if one.event.second >= reach]
            change = FollowingChange(self.version - 1, self.version, added, reach)
            self.store.change_following(READER, change)

    def unfollow(self, who: int, _: int) -> None:
        self.followed.discard(who)
        self.version += 1
        change = FollowingChange(self.version - 1, self.version, removed_author=who + 1)
        self.store.change_following(READER, change)

    def skip_step(self, who: int, _: int) -> None:
        """A step of the following list that the store only learns of by the next one."""
        self.followed.symmetric_difference_update({who})
        self.has_skipped = True
        self.version += 1

    def begin(self, _: int, mark: int) -> None:
        self.epoch += 1
        self.store.begin_build(READER, self.epoch)
        self.computed = LiveTimeline.of(self.home(mark), mark, self.version)

    def finish_build(self, _: int, __: int) -> None:
        if self.computed is not None:
            self.store.finish_build(READER, self.epoch, self.computed)
            self.computed = None

    def build(self, _: int, mark: int) -> None:
        self.begin(0, mark)
        self.finish_build(0, 0)

    def remove(self, who: int, _: int) -> None:
        """An author's oldest post is deleted, and removed from the store."""
        seen = self.store.peek([READER]).get(READER)
        if self.posts[who] and self.computed is None:
            gone = self.posts[who].pop(0)
            if seen is None or not self.store.remove(READER, seen, [gone]):
                self.store.drop(READER)

    def drop(self, _: int, __: int) -> None:
        self.store.drop(READER)

    def lose(self, _: int, __: int) -> None:
        self.kind.lose()

    def evict(self, _: int, nth: int) -> None:
        self.kind.evict(READER, nth)

    def rebuild_after_evict(self, _: int, nth: int) -> None:
        self.evict(0, nth)
        self.build(0, 0)

    def age(self, _: int, days: int) -> None:
        self.kind.age(READER, days)

    def check(self) -> None:
        timeline = self.store.peek([READER]).get(READER)
        if timeline is not None and timeline.following_version == self.version:
            self.check_entries(timeline)

    def check_entries(self, timeline: LiveTimeline) -> None:
        """A build keeps what was stored. After a skipped step that may be entries of an author
        who is not followed any more. Rules hide them."""
        held = list(entries(timeline) or [])
        if self.has_skipped:
            held = [e for e in held if Entry.from_packed(e).event.author_id - 1 in self.followed]
        assert held == self.home(timeline.complete_from)

    def check_built(self) -> None:
        """In any state: a build gives a complete timeline.

        Of who was unfollowed during another build something may be left: rules hide it.
        """
        self.begin(0, 0)
        self.finish_build(0, 0)
        found = read(self.store, READER)
        assert found is not None and found.following_version == self.version
        right, held = self.home(found.complete_from), entries(found)
        assert [entry for entry in held if entry in right] == right
        left = {Entry.from_packed(entry).event.author_id for entry in held if entry not in right}
        assert not left & {who + 1 for who in self.followed}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@examples(60)
@example(steps=[("build", 0, 0), ("publish", 0, 3), ("rebuild_after_evict", 0, 2)])
@given(steps=st.lists(step, min_size=10, max_size=40))
def test_what_can_be_read_is_the_truth(
    world: None, kind: Kind, steps: list[tuple[str, int, int]]
) -> None:
    clean()
    model = Model(kind)
    for name, who, number in steps:
        getattr(model, name)(who, number)
        model.check()
    model.check_built()


PAGE = Window(limit=20)
PULLS = ("timelines_recentpost", "FROM posts_")
Finish = Callable[..., bool]


@pytest.fixture
def tiered(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An account of a tiered store that follows an author with one post."""
    monkeypatch.setattr(settings, "TIMELINE_STORE", "tiered")
    timeline_store.cache_clear()
    tiered, author = make_account(), make_account()
    follow(tiered, author)
    publish(author)
    drain_all()
    yield tiered
    timeline_store.cache_clear()


def lose_hot() -> None:
    forget_memory()
    for key in redis().call("KEYS", f"{FAMILY}*"):
        redis().call("DEL", key)


def pulls(calls: Calls) -> list[str]:
    return [
        f"{one.alias}: {one.sql}"
        for one in calls.statements
        if any(table in one.sql for table in PULLS)
    ]


def live_of(tiered: int) -> LiveTimeline:
    live = find_live(tiered)
    assert live is not None
    return live


def test_a_reader_between_the_two_halves_of_a_build_gets_the_whole_timeline(
    tiered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[LiveTimeline | None] = []

    def watched(finish: Finish) -> Finish:
        def finish_and_read(*args: Any) -> bool:
            if len(seen) < 2:
                seen.append(None)
                seen[-1] = find_live(tiered)
            return finish(*args)

        return finish_and_read

    for store in (PackedStore, PostgresStore):
        monkeypatch.setattr(store, "finish_build", watched(store.finish_build))
    assert len(home_page(tiered, PAGE).items) == 1
    assert seen == [None, live_of(tiered)]
    assert live_of(tiered).complete_from == 0


@pytest.mark.parametrize("error", [RedisError, SystemExit])
def test_a_build_that_ends_between_its_halves_leaves_no_wrong_page(
    tiered: int, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Redis is lost there, or the process: then the hot half is ended and the cold one is not."""
    broken = PackedStore if error is RedisError else PostgresStore

    def fail(*_: object) -> bool:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(broken, "finish_build", fail)
        try:
            home_page(tiered, PAGE)
        except SystemExit:
            assert live_of(tiered).complete_from == 0
    wait_for_redis()
    for _ in range(2):
        lose_hot()
        assert len(home_page(tiered, PAGE).items) == 1
        assert live_of(tiered).complete_from == 0


def test_readers_who_lost_a_short_hot_timeline_pull_once_and_later_pages_never(
    tiered: int,
) -> None:
    home_page(tiered, PAGE)
    lose_hot()
    with count_calls() as calls:
        answers = run_together([lambda: home_page(tiered, PAGE)] * 4)
    assert not failures(answers), answers
    assert max(Counter(pulls(calls)).values()) == 1, "one of the index, one of each shard's tables"
    with count_calls() as calls:
        home_page(tiered, PAGE)
    assert pulls(calls) == []


def test_rows_that_fill_a_page_are_copied_without_a_pull(
    tiered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ENOUGH", 2)
    publish(tiered)
    drain_all()
    home_page(tiered, PAGE)
    lose_hot()
    with count_calls() as calls:
        answers = run_together([lambda: home_page(tiered, Window(limit=1))] * 4)
    assert not failures(answers), answers
    assert pulls(calls) == []
    assert sum(one.sql == rows.READ for one in calls.statements) == 1
