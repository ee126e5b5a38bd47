"""Catch-ups while posts arrive late, out of order or twice: a reader who finishes each gets every
post, and a bound leaves out what arrives while its pages are read."""

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
from relations.actions.follow import follow
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.homes import at
from tests.integration.timelines.test_polling_histories import PollingHistory, step
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import clean, drain_all, make_accounts, publish
from timelines.catch_up.pages import CatchUpRequest, catch_up_page
from timelines.markers.actions.move_markers import advance_home_marker
from timelines.recent.actions.settle_posts import SETTLE_MS


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
@given(steps=st.lists(step, min_size=10, max_size=40))
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
