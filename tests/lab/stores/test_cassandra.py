"""Cold timelines in a real Cassandra: as every store, and what it may do otherwise: be away, hang,
lose its data, and be written by two steps at once."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from itertools import count
from typing import Any

import pytest
from cassandra.policies import RoundRobinPolicy
from django.conf import settings
from django.core.checks import run_checks
from prometheus_client import REGISTRY
from pytest_django import Settings

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.cassandra_server import (
    DATACENTER,
    REASON,
    CassandraNode,
    find_cassandra,
    running_cassandra,
)
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.stores import DAY_S, EVER, MOST, Kind, read
from tests.integration.timelines.test_store import (  # noqa: F401 - run here too
    READER,
    build,
    entry,
    found,
    repost,
    seconds,
    test_a_build_that_is_pushed_more_than_it_holds_misses_nothing,
    test_a_build_that_was_lost_is_not_laid,
    test_a_build_that_was_taken_over_is_not_laid,
    test_a_peek_has_what_can_be_read,
    test_a_push_that_comes_again_changes_nothing,
    test_a_rebuild_after_the_loss_of_one_key_gives_the_whole_timeline,
    test_a_step_adds_the_new_followee,
    test_a_step_during_a_build_keeps_its_entries,
    test_a_step_may_raise_the_mark_and_never_lowers_it,
    test_a_step_of_nobody_live_makes_nobody_live,
    test_a_step_takes_out_an_ended_followee,
    test_a_step_that_comes_again_adds_what_it_brings_now,
    test_a_step_that_may_be_undone_changes_nothing,
    test_a_timeline_that_is_not_live_is_not_pushed_to,
    test_a_timeline_that_missed_a_step_is_dropped,
    test_a_timeline_that_was_cut_is_complete_above_its_mark,
    test_entries_below_the_mark_are_not_shown,
    test_entries_come_back_as_they_were_in_page_order,
    test_how_far_down_it_reaches,
    test_many_readers_at_once,
    test_nothing_is_taken_out_of_a_timeline_that_is_another_now,
    test_reading_keeps_it_alive_and_pushing_does_not,
    test_what_is_dropped_is_gone,
    test_what_is_pushed_while_building_is_there_after,
    test_what_is_taken_out_goes_with_its_repeats_and_the_rest_stays,
)
from tests.integration.timelines.test_store_generation import (  # noqa: F401 - run here too
    choose,
    test_home_is_what_the_oracle_says_whatever_the_store,
)
from tests.rules.texts import ROOT
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish
from timelines.stores.cassandra import READ, STATEMENTS, CassandraStore
from timelines.stores.cassandra_breaker import CassandraAway
from timelines.stores.cassandra_session import CassandraSession, open_cluster
from timelines.stores.factory import timeline_store
from timelines.stores.interface import FollowingChange, TimelineStore
from timelines.stores.packed import PackedStore
from timelines.stores.tiered import TieredStore
from timelines.types import LiveTimeline

HOW_TO = (ROOT / "docs/how-to/use-cassandra.md").read_text()
GENERATIONS = count(1)
PATIENT_S, QUICK_S = 30.0, 1.0
EMPTY = "TRUNCATE timelines_entry"


@pytest.fixture(scope="module")
def node() -> Iterator[CassandraNode]:
    packages = find_cassandra()
    if packages is None:
        pytest.skip(REASON)
    with running_cassandra(packages) as node:
        for statement in documented():
            ask(node, statement)
        yield node


@pytest.fixture(scope="module")
def session(node: CassandraNode) -> Iterator[CassandraSession]:
    with connected(node, PATIENT_S) as session:
        yield session


@pytest.fixture
def quick(world: None, node: CassandraNode) -> Iterator[CassandraSession]:
    with connected(node, QUICK_S) as session:
        until(lambda: answers(session))
        yield session


@pytest.fixture(params=["cassandra", "tiered"])
def kind(world: None, session: CassandraSession, request: pytest.FixtureRequest) -> Kind:
    def tiered() -> TieredStore:
        return TieredStore(PackedStore(MOST, 14 * DAY_S), cold(session, 60))

    make = tiered if request.param == "tiered" else lambda: cold(session)
    return Kind(request.param, make, request.param == "tiered", True)


@pytest.fixture
def store(kind: Kind) -> TimelineStore:
    return kind.make()


@pytest.fixture
def site(
    choose: Callable[[str], None],  # noqa: F811
    session: CassandraSession,
    settings: Settings,
) -> Iterator[None]:
    settings.CASSANDRA = session._servers
    settings.CASSANDRA_TIMEOUT_MS = PATIENT_S * 1000
    choose("tiered")
    connection = timeline_store()._cold._session._connection.result()
    yield
    connection.session.cluster.shutdown()


@pytest.fixture
def tiny(site: None, settings: Settings) -> None:
    settings.TIMELINE_ENTRIES = 6
    timeline_store()._cold._max_entries = 6


def documented() -> list[str]:
    """The statements of the how-to page, for one node."""
    (block,) = re.findall(r"```sql\n(.*?)```", HOW_TO, re.DOTALL)
    return block.replace("'dc1': 3", f"'{DATACENTER}': 1").strip().rstrip(";").split(";")


def ask(node: CassandraNode, *statements: str, keyspace: str | None = None) -> None:
    cluster = open_cluster(node.servers, PATIENT_S, RoundRobinPolicy())
    try:
        session = cluster.connect(keyspace)
        for statement in statements:
            session.execute(statement)
    finally:
        cluster.shutdown()


@contextmanager
def connected(node: CassandraNode, timeout_s: float) -> Iterator[CassandraSession]:
    session = CassandraSession(node.servers, timeout_s, STATEMENTS)
    yield session
    session._connection.result().session.cluster.shutdown()


def cold(session: CassandraSession, days: int = 14) -> CassandraStore:
    """Each has timelines of its own: the table is not emptied between tests."""
    return CassandraStore(session, MOST, days, EVER, next(GENERATIONS))


def forgotten() -> float:
    return REGISTRY.get_sample_value("tideline_cassandra_timelines_forgotten_total") or 0.0


def test_a_cassandra_that_lost_its_data_has_no_timelines(
    node: CassandraNode, kind: Kind, store: TimelineStore
) -> None:
    build(store, 5)
    ask(node, EMPTY, keyspace="tideline")
    redis().call("FLUSHDB")
    store.push({READER: [entry(6)]})
    assert read(store, READER) is None
    build(store, 5, 6)
    assert seconds(store) == [5, 6]


def test_one_that_hangs_costs_one_wait_and_no_entry(
    node: CassandraNode, quick: CassandraSession
) -> None:
    store, before = cold(quick), forgotten()
    build(store, 5)
    with node.hanging():
        started = time.monotonic()
        for _ in range(50):
            assert read(store, READER) is None
        with pytest.raises(CassandraAway):
            store.peek([READER])
        assert time.monotonic() - started < 20 * QUICK_S
    until(lambda: read(store, READER))
    assert seconds(store) == [5]
    with node.hanging():
        assert store.push({READER: [entry(6)]}) == 1
        assert fetch_all(shard_of(READER), "SELECT 1 FROM timelines_head") == []
        epoch = 5_000_000
        store.begin_build(READER, epoch)
        assert not store.finish_build(READER, epoch, LiveTimeline.of([], 0, 1))
    assert forgotten() - before == 2
    until(lambda: answers(quick))
    assert read(store, READER) is None, "the entry may be missing"
    build(store, 5, 6)
    assert seconds(store) == [5, 6]


def answers(session: CassandraSession) -> bool:
    try:
        session.fetch(READ, [(1, 1, b"", 1)])
    except CassandraAway:
        return False
    return True


def test_pages_and_posts_go_on_without_it(site: None, node: CassandraNode) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend).public]
    drain_all()
    assert first_page(me) == posts
    timeline_store()._cold._session._timeout_s = QUICK_S
    cluster = timeline_store()._cold._session._connection.result().session.cluster
    cluster.profile_manager.default.request_timeout = QUICK_S
    with node.hanging():
        posts.append(publish(friend).public)
        drain_all()
        assert first_page(me) == sorted(posts, reverse=True)
        redis().call("FLUSHDB")
        assert first_page(me) == sorted(posts, reverse=True)
    until(lambda: answers(timeline_store()._cold._session))
    for _ in range(2):
        redis().call("FLUSHDB")
        assert first_page(me) == sorted(posts, reverse=True)


def test_after_a_flush_pages_come_from_it(site: None) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend).public]
    drain_all()
    first_page(me)
    redis().call("FLUSHDB")
    posts.append(publish(friend).public)
    drain_all()
    with count_calls() as calls:
        assert first_page(me) == sorted(posts, reverse=True)
    statements = [statement.sql for statement in calls.statements]
    assert not [sql for sql in statements if "from_moment" in sql or "recentpost" in sql]
    tables = "SELECT 1 FROM timelines_entry"
    assert [fetch_all(alias, tables) for alias in settings.SHARD_ALIASES] == [[]] * 4


@pytest.mark.parametrize(
    ("change", "statements", "says"),
    [
        ({}, [], None),
        ({"datacenter": "dc2"}, [], "no data center dc2, but datacenter1"),
        ({"keyspace": "other"}, [], "no keyspace other"),
        ({"port": 9}, [], "cannot be used: .*refused"),
        ({}, ["DROP TABLE timelines_entry"], "no table timelines_entry"),
        ({}, ["ALTER TABLE timelines_entry ADD more int"], "other columns"),
        ({}, ["ALTER TABLE timelines_entry WITH default_time_to_live = 60"], "is 60, .* 5875200"),
    ],
)
def test_check_says_what_is_wrong(
    world: None,
    node: CassandraNode,
    settings: Settings,
    change: dict[str, Any],
    statements: list[str],
    says: str | None,
) -> None:
    keyspace = "checked"
    created = [one.replace("tideline", keyspace) for one in documented()]
    ask(node, f"DROP KEYSPACE IF EXISTS {keyspace}", *created)
    ask(node, *statements, keyspace=keyspace)
    settings.CASSANDRA = node.servers._replace(**{"keyspace": keyspace} | change)
    settings.CASSANDRA_TIMEOUT_MS = PATIENT_S * 1000
    checked = run_checks(databases=["default"])
    errors = [message.msg for message in checked if message.id == "timelines.E001"]
    assert len(errors) == (says is not None)
    assert says is None or re.search(says, errors[0])


def test_one_that_is_slow_is_waited_for(node: CassandraNode, quick: CassandraSession) -> None:
    store, before = cold(quick), forgotten()
    build(store, 5)
    with node.hanging():
        resume = threading.Timer(QUICK_S / 4, node.resume)
        resume.start()
        assert store.push({READER: [entry(6)]}) == 1
        resume.join()
    assert seconds(store) == [5, 6]
    assert forgotten() == before


def test_one_that_was_killed_is_back_with_its_timelines(
    world: None, node: CassandraNode, session: CassandraSession
) -> None:
    store = cold(session)
    build(store, 5)
    node.kill()
    assert read(store, READER) is None
    node.start()
    until(lambda: answers(session))
    assert seconds(store) == [5]


@pytest.mark.parametrize("fails", ["step", "removal"])
def test_what_it_does_not_take_ends_the_timeline(
    node: CassandraNode, quick: CassandraSession, fails: str
) -> None:
    store = cold(quick)
    build(store, 5, version=3)
    (seen,) = store.peek([READER]).values()
    with node.hanging():
        if fails == "step":
            assert store.change_following(READER, FollowingChange(3, 4, added=[entry(6)]))
        else:
            assert store.remove(READER, seen, [entry(5)])
    assert store.find_complete_from(READER) is None


def test_an_author_who_was_left_and_followed_again_is_back(store: TimelineStore) -> None:
    build(store, 5, version=3)
    for version in (3, 5, 7):
        store.change_following(READER, FollowingChange(version, version + 1, removed_author=7))
        assert seconds(store) == []
        step = FollowingChange(version + 1, version + 2, added=[entry(5)])
        store.change_following(READER, step)
        assert seconds(store) == [5]


class Interrupted:
    """A session; once, at the first write, it does something else first."""

    def __init__(self, session: CassandraSession, act: Callable[[], object]) -> None:
        self._session, self._acts = session, [act]

    def fetch(self, *args: Any) -> Any:
        return self._session.fetch(*args)

    def write(self, *args: Any) -> None:
        if self._acts:
            self._acts.pop()()
        self._session.write(*args)


LEFT = FollowingChange(3, 4, removed_author=7, read_at=4)
FOLLOWED = FollowingChange(4, 5, added=[entry(5)])


@pytest.mark.parametrize("outer", ["left", "followed", "removal", "build"])
@pytest.mark.parametrize("inner", ["left", "followed", "removal", "build"])
def test_two_changes_at_once_leave_no_hole(
    world: None, session: CassandraSession, outer: str, inner: str
) -> None:
    """The timeline has what one after the other would leave, or it is not alive."""
    store = cold(session)
    build(store, 5, version=3 if "left" in (outer, inner) else 4)
    (seen,) = store.peek([READER]).values()
    acts: dict[str, Callable[[CassandraStore], object]] = {
        "left": lambda by: by.change_following(READER, LEFT),
        "followed": lambda by: by.change_following(READER, FOLLOWED),
        "removal": lambda by: by.remove(READER, seen, [entry(5)]),
        "build": lambda by: build_as(by),
    }
    other = copy(store)
    other._session = Interrupted(session, lambda: acts[inner](store))  # type: ignore[assignment]
    acts[outer](other)
    timeline = read(store, READER)
    if timeline is not None and timeline.following_version == 5:
        assert seconds(store) == [5]


def build_as(store: CassandraStore) -> None:
    """Of a reader who follows the author by now."""
    epoch = next(GENERATIONS)
    store.begin_build(READER, epoch)
    store.finish_build(READER, epoch, LiveTimeline.of([entry(5).packed], 0, 5))


@pytest.mark.parametrize("method", ["finish_build", "change_following", "push"])
def test_a_process_that_dies_in_the_middle_leaves_no_hole(
    world: None, session: CassandraSession, method: str
) -> None:
    """It is killed after Cassandra has the write, and before anything else."""
    store = cold(session)
    dying = copy(store)
    dying._session = Dying(session)  # type: ignore[assignment]
    if method == "finish_build":
        with pytest.raises(SystemExit):
            build(dying, 5)
        assert read(store, READER) is None
        build(store, 5)
        assert seconds(store) == [5]
        return
    build(store, 5, version=3)
    step = FollowingChange(3, 4, added=[entry(6)])
    calls: dict[str, Callable[[CassandraStore], object]] = {
        "change_following": lambda by: by.change_following(READER, step),
        "push": lambda by: by.push({READER: [entry(6)]}),
    }
    with pytest.raises(SystemExit):
        calls[method](dying)
    assert read(store, READER).following_version == 3
    calls[method](store)
    assert seconds(store) == [5, 6]


class Dying(Interrupted):
    def __init__(self, session: CassandraSession) -> None:
        super().__init__(session, str)

    def write(self, *args: Any) -> None:
        super().write(*args)
        raise SystemExit
