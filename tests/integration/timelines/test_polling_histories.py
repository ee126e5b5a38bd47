"""Random histories: clients refresh while deliveries are late, out of order, repeated or killed,
and timelines are dropped and flushed. Each client receives every post."""

import pytest
from django.conf import settings
from django.db import OperationalError
from hypothesis import given
from hypothesis import strategies as st

from infra.caching.client import redis
from infra.changes import failpoints
from infra.changes.compensate import drain
from infra.changes.failpoints import arm, disarm
from infra.changes.lag import list_lane_lags
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from posts.ids import PostId
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.types import RepliesPolicy
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.indexed import complete_index
from tests.integration.timelines.polling_clients import CLIENTS, MixedClient
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import clean, drain_all, make_accounts, publish
from timelines import cache
from timelines.feeds.list import account_list_page
from timelines.feeds.public import public_page
from timelines.home.page import home_page
from timelines.recent import replicated
from timelines.recent.actions.index_posts import index_recent
from timelines.stores.factory import timeline_store

pytestmark = pytest.mark.slow

AUTHORS = 6
# With so many posts after the others, each client gets what another one with its token got.
MOST_LAST = 60
DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"
PLACES = ("fan_out.indexed", "fan_out.page_pushed", "fan_out.pushed")
author, client = st.integers(0, AUTHORS - 1), st.integers(0, 7)
publishing = step_of("publish", author, st.integers(1, 3))
polling = step_of("poll", client, st.integers(1, 2))
passing = step_of("wait", st.sampled_from((20, 150, 260, 900, 4_000, 30_000)))
step = st.one_of(
    publishing, publishing, publishing, polling, polling, polling, passing, passing,
    step_of("deliver", st.integers(0, 50)),
    step_of("deliver", st.integers(0, 50)),
    step_of("switch", st.integers(6, 7), st.sampled_from(("min_id", "since_id", "ordinary"))),
    step_of("poll_during", client, st.sampled_from(PLACES)),
    step_of("die", st.integers(0, 50), st.sampled_from(PLACES)),
    step_of("away", st.integers(0, 3), st.booleans()),
    step_of("rebuild"),
    step_of("flush"),
)  # fmt: skip


class Gone(BaseException):
    """The drain is gone."""


class PollingHistory:
    """One reader, clients of all kinds; the first three have a token each, the others one for all,
    and two of them change how they poll."""

    def __init__(self, time: VirtualTime, timeline: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time, self.made, self.away_aliases = time, list[PostId](), set[str]()
        self.me, *self.authors = make_accounts(AUTHORS + 1)
        for one in self.authors:
            follow(self.me, one)
        drain_all()
        complete_index(0)
        self._read = getattr(self, f"_make_{timeline}")()
        tokens = ("1", "2", "3", *["all"] * 5)
        kinds = [*CLIENTS.values(), *CLIENTS.values(), MixedClient, MixedClient]
        self.clients = [kind(self._reader(t)) for kind, t in zip(kinds, tokens, strict=True)]
        monkeypatch.setattr(replicated, "index_recent", self._index)

    def _make_home(self):
        return lambda window, token: home_page(self.me, window, self.time.clock_ms, token)

    def _make_list(self):
        made = create_account_list(self.me, "close", RepliesPolicy.LIST)
        add_members(self.me, made.list_id, self.authors)
        return lambda window, token: account_list_page(
            self.me, made.list_id, window, self.time.clock_ms, token
        )

    def _make_public(self):
        return lambda window, token: public_page(self.me, window, self.time.clock_ms, token)

    def _reader(self, token):
        return lambda window: self._read(window, token)

    def _index(self, alias, entries):
        if alias in self.away_aliases:
            raise OperationalError
        return index_recent(alias, entries)

    def run(self, name, what, how):
        getattr(self, name)(what, how)

    def publish(self, who, count):
        for _ in range(count):
            self.made.append(publish(self.authors[who], clock_s=self.time.clock_s))

    def poll(self, who, times):
        for _ in range(times):
            self.clients[who].poll()

    def switch(self, who, way):
        self.clients[who].way = way

    def wait(self, passed, _):
        self.time.pass_ms(passed)
        redis().call("DEL", cache.public_ids.key(cache.ALL_AUTHORS))

    def deliver(self, which, _):
        """One lane of one database."""
        lags = [lag for alias in all_aliases() for lag in list_lane_lags(alias) if lag.pending]
        if lags:
            drain(lags[which % len(lags)].alias, lags[which % len(lags)].lane)

    def poll_during(self, who, place):
        """A client polls, and time passes, while a delivery is at this place."""

        def poll():
            disarm(place)
            self.poll(who, 1)
            self.time.pass_ms(700)

        arm(place, poll)
        self.deliver(who, None)
        disarm(place)

    def die(self, which, place):
        def die():
            raise Gone

        arm(place, die)
        try:
            self.deliver(which, None)
        except Gone:
            self.time.stamp()
        finally:
            disarm(place)

    def away(self, which, is_away):
        alias = settings.SHARD_ALIASES[which]
        (self.away_aliases.add if is_away else self.away_aliases.discard)(alias)

    def rebuild(self, _, __):
        timeline_store().drop(self.me)

    def flush(self, _, __):
        """The list before of the public timeline is lost too: only one shard is read then."""
        redis().call("FLUSHDB")

    def check(self):
        self.away_aliases.clear()
        for _ in range(2):
            for alias in all_aliases():
                execute(alias, DUE)
            drain_all()
        for _ in range(MOST_LAST):
            self.wait(3_000, None)
            if not any(self._list_missed()):
                break
            self.publish(AUTHORS - 1, 1)
            drain_all()
            for client in self.clients:
                client.poll_to_end()
        assert self._list_missed() == [set()] * len(self.clients)

    def _list_missed(self):
        return [set(self.made) - client.seen for client in self.clients]


@pytest.fixture
def time(each_index, monkeypatch):
    monkeypatch.setattr(failpoints, "_armed", {})
    return VirtualTime(monkeypatch)


def run(time, timeline, steps, monkeypatch):
    clean()
    with monkeypatch.context() as patch:
        history = PollingHistory(time, timeline, patch)
        for one in steps:
            history.run(*one)
        history.check()


@examples(25)
@given(steps=st.lists(step, min_size=10, max_size=50))
def test_at_home_nothing_is_lost(time, monkeypatch, steps):
    run(time, "home", steps, monkeypatch)


@examples(25)
@given(steps=st.lists(step, min_size=10, max_size=50))
def test_on_a_list_nothing_is_lost(time, monkeypatch, steps):
    run(time, "list", steps, monkeypatch)


@examples(25)
@given(steps=st.lists(step.filter(lambda one: one[0] != "flush"), min_size=10, max_size=50))
def test_on_the_public_timeline_nothing_is_lost(time, monkeypatch, steps):
    run(time, "public", steps, monkeypatch)
