"""Random histories: the groups of a catch-up together are exactly what the oracle's home timeline
has since the marker, in every store, and the marker's count is their number.

Catch-ups while posts arrive late, out of order or twice: a reader who finishes each gets every
post, and a bound leaves out what arrives while its pages are read.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.changes import failpoints
from infra.changes.failpoints import arm, disarm
from posts.actions.repost import repost
from posts.ids import PostId
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.homes import at
from tests.integration.timelines.test_histories import History, person
from tests.integration.timelines.test_polling_histories import PollingHistory
from tests.integration.timelines.test_polling_histories import step as step_of_poll
from tests.integration.timelines.virtual_time import VirtualTime
from tests.oracle import author_of
from tests.world import clean, drain_all, make_accounts, publish
from timelines.catch_up.count import count_unread_entries
from timelines.catch_up.order import split_groups
from timelines.catch_up.pages import CatchUpRequest, catch_up_page
from timelines.catch_up.types import CatchUp, Exclusions
from timelines.markers.actions.move_markers import advance_home_marker
from timelines.markers.rows import read_markers
from timelines.markers.types import Timeline
from timelines.recent import replicated
from timelines.recent.actions.settle_posts import SETTLE_MS

step = st.one_of(
    step_of("publish", person, st.integers(0, 2)),
    step_of("publish", person, st.integers(0, 2)),
    step_of("publish_closed", person, st.integers(0, 11)),
    step_of("reply", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 3)),
    step_of("take_back", person, st.integers(0, 3)),
    step_of("remove", person, st.integers(0, 50)),
    step_of("follow_again", person, person),
    step_of("unfollow", person, person),
    step_of("mute", person),
    step_of("block", person),
    step_of("evict", person),
    step_of("flush"),
    step_of("catch_up", person, st.integers(0, 3)),
    step_of("catch_up", person, st.integers(0, 3)),
    step_of("finish", person),
    step_of("finish", person),
)


class CatchUpHistory(History):
    """The first person reads, and follows all others at first.

    `since`, `seen`: the marker, and the posts and reposts that had arrived at its bound.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.since = self.people[0], PostId(0, 0, 0).public
        self.seen: set[str] = set()
        self.hidden: set[int] = set()
        for other in range(1, len(self.people)):
            self.follow(self.reader, other)

    def follow_again(self, account: int, other: int) -> None:
        if not {account, self.people[other]} & self.hidden:
            self.follow(account, other)

    def remove(self, author: int, which: int) -> None:
        """Without the reads of `delete`, which take long."""
        self.check_gone = lambda *_: None  # type: ignore[method-assign]
        self.delete(author, which)

    def mute(self, account: int, _: None) -> None:
        if account != self.reader:
            mute(self.reader, account)
            self.hidden.add(account)

    def block(self, account: int, _: None) -> None:
        if account != self.reader:
            block(self.reader, account)
            self.hidden.add(account)
            self.oracle.unfollow(self.reader, account)
            self.oracle.unfollow(account, self.reader)

    def catch_up(self, account: int, choice: int) -> None:
        """Another account publishes between the first page and the others."""
        drain_all()
        exclusions = Exclusions(replies=bool(choice & 1), reposts=bool(choice & 2))
        expected = self.expected(exclusions)
        request = CatchUpRequest(self.reader, 2, exclusions)
        page = catch_up_page(request)
        shown = [*page.statuses]
        self.check_order(page.whole)
        self.publish(self.people[-1], 0)
        while page.after is not None:
            page = catch_up_page(
                request._replace(limit=1 + account % 3, bound=page.whole.bound, after=page.after)
            )
            shown += page.statuses
        assert sorted(event.public for event in shown) == sorted(expected)

    def finish(self, _: int, __: None) -> None:
        drain_all()
        if marker := read_markers(self.reader, [Timeline.HOME]).get(Timeline.HOME):
            counted = len(self.expected(Exclusions()))
            assert count_unread_entries(self.reader, marker) == (counted, False)
        made = self.made()
        bound = catch_up_page(CatchUpRequest(self.reader, 40)).whole.bound
        advance_home_marker(self.reader, bound.until.base36, bound.seen_ms, datetime.now(UTC))
        self.since, self.seen = bound.until.public, made

    def expected(self, exclusions: Exclusions) -> list[str]:
        """The events of the unread places, from the oracle."""
        places = []
        for original, events in self.oracle.brought(self.reader).items():
            kept = [e for e in events if author_of(e) not in self.hidden]
            if exclusions.reposts:
                kept = [e for e in kept if e == original]
            if kept and author_of(original) not in self.hidden:
                places.append(kept[0])
        others = [e for e in places if author_of(e) != self.reader and self.is_unread(e)]
        return [e for e in others if not (exclusions.replies and e in self.oracle._replies)]

    def is_unread(self, event: str) -> bool:
        return int(event) > int(self.since) or event not in self.seen

    def made(self) -> set[str]:
        return {post for posts in self.oracle._posts.values() for post in posts}

    def check_order(self, whole: CatchUp) -> None:
        groups = split_groups(whole.entries[whole.together_count :])
        sizes, authors = [len(g) for g in groups], [g[0].event.author_id for g in groups]
        assert sizes == sorted(sizes)
        assert len(authors) == len(set(authors))

    def check(self) -> None:
        self.finish(0, None)
        self.catch_up(0, 0)


@examples(6)
@given(steps=st.lists(step, min_size=10, max_size=30))
def test_the_groups_are_the_home_timeline_since_the_marker(
    world: None,
    tiny_timelines: None,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[str, int | None, int | None]],
) -> None:
    """Nothing is on its way when a bound is made, so it needs no margin."""
    monkeypatch.setattr(replicated, "MARGIN_MS", 0)
    clean()
    history = CatchUpHistory()
    for name, who, what in steps:
        history.run(name, who, what)
    history.check()


def read_pages(request: CatchUpRequest, time: VirtualTime) -> Iterator[Any]:
    while True:
        page = catch_up_page(request, time.clock_ms)
        yield page
        if page.after is None:
            return
        request = request._replace(bound=page.whole.bound, after=page.after)


class CatchUpClient:
    """Reads a catch-up to its end, and says that it is done."""

    def __init__(self, reader_id: int, time: VirtualTime) -> None:
        self.reader_id, self.time = reader_id, time
        self.seen: set[PostId] = set()

    def poll(self) -> None:
        for page in read_pages(CatchUpRequest(self.reader_id, 3), self.time):
            self.seen |= page.statuses.keys()
            self.time.pass_ms(10)
        bound = page.whole.bound
        now = datetime.now(UTC)
        advance_home_marker(self.reader_id, bound.until.base36, bound.seen_ms, now)

    def poll_to_end(self) -> None:
        """One is enough: a catch-up has an end."""
        self.poll()


class CatchUpArrivals(PollingHistory):
    def __init__(self, time: VirtualTime, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(time, "home", monkeypatch)
        self.clients = [CatchUpClient(self.me, time)]

    def poll(self, _: int, times: int) -> None:
        super().poll(0, 1)

    def switch(self, _: int, way: str) -> None:
        """A catch-up is read in one way."""


@pytest.fixture
def time(world: None, monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    monkeypatch.setattr(failpoints, "_armed", {})
    return VirtualTime(monkeypatch)


@examples(5)
@given(steps=st.lists(step_of_poll, min_size=10, max_size=40))
def test_each_post_is_in_a_catch_up(
    time: VirtualTime, monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    clean()
    with monkeypatch.context() as patch:
        history = CatchUpArrivals(time, patch)
        for one in steps:
            history.run(*one)
        history.check()


def test_a_post_that_is_on_its_way_at_the_bound_is_in_the_next_catch_up(
    time: VirtualTime,
) -> None:
    """Its row has arrived as long ago as a push may take, and no timeline has it yet."""
    me, ann, bob = make_accounts(3)
    follow(me, ann)
    follow(me, bob)
    client = CatchUpClient(me, time)
    newest = publish(ann, clock_s=time.clock_s)
    drain_all()
    client.poll()

    def read_during() -> None:
        disarm("fan_out.indexed")
        time.pass_ms(SETTLE_MS)
        client.poll()

    late = publish(bob, clock_s=lambda: time.clock_s() - 60)
    arm("fan_out.indexed", read_during)
    drain_all()
    assert client.seen == {newest}
    time.pass_ms(5_000)
    client.poll()
    assert client.seen == {newest, late}


def test_a_post_that_is_reposted_while_it_is_read_keeps_its_place(time: VirtualTime) -> None:
    me, ann, bob = make_accounts(3)
    follow(me, ann)
    follow(me, bob)
    posts = [publish(ann, clock_s=at(100 + n)) for n in range(3)]
    drain_all()
    shown = []
    for page in read_pages(CatchUpRequest(me, 1), time):
        shown += page.statuses
        repost(bob, posts[0], clock_s=at(200))
        drain_all()
    assert shown == posts[::-1]
