"""The threads of the drainer: what wakes them, what rests, who holds the leases, how they stop."""

import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.changes import held_lanes
from infra.changes.compensate import drain
from infra.changes.drainer import Drainer
from infra.changes.held_lanes import HeldLanes, Recoveries
from infra.changes.lanes import THREADS, all_lanes
from infra.changes.lease import lease
from infra.sharding.sql import execute, fetch_all, fetch_one
from tests.budgets import count_calls
from tests.dying import armed
from tests.integration.changes.kinds import (
    ALIAS,
    FOLDED_LANE,
    LANE,
    BulkNoted,
    FoldedNoted,
    delivered,
    emit,
    let_lease_expire,
    note,
    pending,
)
from tests.waiting import PATIENCE_S, until

HELD = "SELECT count(*) FROM changes_drainlease WHERE expires_at > clock_timestamp()"
HOLDERS = "SELECT DISTINCT backend_pid FROM changes_drainlease WHERE expires_at > now()"
LEFT_S = """
SELECT extract(epoch FROM throttled_until - clock_timestamp()) FROM changes_drainlease
WHERE lane = %s
"""
TAKE_BACK = "UPDATE changes_drainlease SET throttled_until = throttled_until + interval '1 day'"
END_WINDOW = "UPDATE changes_drainlease SET throttled_until = now() - interval '1 s'"


@contextmanager
def running(*aliases):
    drainer = Drainer()
    drainer.cover(aliases or [ALIAS])
    try:
        yield drainer
    finally:
        drainer.stop()
        assert not any(thread.is_alive() for thread in drainer._threads)


def until_held():
    """The threads of the database hold all lanes."""
    until(lambda: fetch_one(ALIAS, HELD)[0] == len(all_lanes()))


def test_every_group_of_lanes_is_drained(journal):
    versions = [*note(3), *emit(BulkNoted(), BulkNoted(), FoldedNoted())]
    with running():
        until(lambda: delivered() == versions)
        more = [*note(), *emit(BulkNoted())]
        until(lambda: delivered() == [*versions, *more])
    assert sorted(journal.versions) == [*versions, *more]


def test_one_change_costs_a_wake_up_its_notes_and_two_statements(journal):
    """It takes the row and files it. No lease is written, and no second look follows."""
    with lease(ALIAS, [LANE]) as tokens:
        held = HeldLanes(ALIAS, tokens, Recoveries())
        assert not held.drain()
        versions = note()
        with count_calls() as calls:
            held.wait(threading.Event())
            assert not held.drain()
        assert delivered() == versions
    assert (len(calls.statements), calls.round_trips) == (2, 2)


def test_the_first_change_is_delivered_at_once_and_the_next_ones_together(journal, monkeypatch):
    pauses = []
    now_s = time.monotonic()
    clock = SimpleNamespace(sleep=pauses.append, monotonic=lambda: now_s)
    monkeypatch.setattr(held_lanes, "time", clock)
    with lease(ALIAS, [LANE]) as tokens:
        held = HeldLanes(ALIAS, tokens, Recoveries())
        held.drain()
        first = note()
        held.drain()
        assert pauses == [0, 0]
        others = note(3)
        held.drain()
        assert pauses[2] == pytest.approx(held_lanes.GATHER_S)
        held.drain()
    assert journal.heard == [first, others]
    assert pauses[3] > 0, "since the last rows"


@pytest.mark.usefixtures("no_redis")
def test_while_redis_is_away_it_looks_at_its_lanes(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.wake_up.QUIET_S", PATIENCE_S)
    monkeypatch.setattr("infra.changes.held_lanes.await_wake_up", raise_away)
    with running():
        until_held()
        versions = note()
        until(lambda: delivered() == versions)


def raise_away(*_):
    raise RedisConnectionError("away")


def test_lost_wake_up_is_found_by_the_next_look(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.append.wake_commands", lambda *_: [])
    with running():
        until_held()
        versions = note()
        until(lambda: delivered() == versions)


def test_a_lost_wake_up_of_another_thread_is_found_as_soon(journal, monkeypatch):
    """These threads rarely look themselves: the thread of the ordinary lanes wakes them."""
    monkeypatch.setattr("infra.changes.append.wake_commands", lambda *_: [])
    monkeypatch.setattr("infra.changes.wake_up.OTHERS_QUIET_S", PATIENCE_S)
    with running():
        until_held()
        time.sleep(0.5)  # all threads have looked at their lanes once, and wait
        versions = emit(BulkNoted())
        until(lambda: delivered() == versions)


def test_a_thread_that_waits_for_long_stops_at_once(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.wake_up.OTHERS_QUIET_S", PATIENCE_S)
    with running():
        until_held()
        time.sleep(0.5)  # they wait now
        began_s = time.monotonic()
    assert time.monotonic() - began_s < PATIENCE_S / 10


def test_only_folded_lanes_rest_and_their_rows_become_one_delivery(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.held_lanes.CHANGE_THROTTLE_MS", 60_000)
    with running():
        first = emit(FoldedNoted())
        until(lambda: delivered() == first)
        folded = [version for _ in range(5) for version in emit(FoldedNoted())]
        others = [*note(), *emit(BulkNoted()), *note(), *emit(BulkNoted())]
        until(lambda: delivered() == [*first, *others])
        assert pending() == folded
    journal.clear()
    with running():
        more = note()
        until(lambda: more[0] in delivered())
        assert pending() == folded, "a restart does not end the window"
    execute(ALIAS, END_WINDOW)
    journal.clear()
    with running():
        until(lambda: pending() == [])
    assert journal.heard == [folded]


def test_a_full_batch_of_a_folded_lane_does_not_wait_for_the_rest(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.held_lanes.CHANGE_THROTTLE_MS", 60_000)
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 2)
    versions = emit(*[FoldedNoted()] * 5)
    with running():
        until(lambda: delivered() == versions)
    assert journal.heard == [versions[:2], versions[2:4], versions[4:]]


def test_a_killed_drainer_leaves_its_window(journal, monkeypatch):
    """The window opens before the delivery."""
    monkeypatch.setattr("infra.changes.held_lanes.CHANGE_THROTTLE_MS", 60_000)
    left_s = []
    journal.act = lambda _: left_s.append(fetch_one(ALIAS, LEFT_S, (FOLDED_LANE,))[0])
    with running():
        versions = emit(FoldedNoted())
        until(lambda: delivered() == versions)
    assert 0 < left_s[0] <= 60


def test_of_two_drainers_one_delivers_and_the_other_takes_over(journal):
    with running() as first, running():
        until_held()
        versions = [version for _ in range(20) for version in note()]
        until(lambda: delivered() == versions)
        assert sorted(journal.versions) == versions, "one of them delivers each"
        holders = fetch_all(ALIAS, HOLDERS)
        first.stop()
        more = note()
        until(lambda: delivered() == [*versions, *more])
        until_held()
        sessions = (len(holders), len(fetch_all(ALIAS, HOLDERS)))
        assert sessions == (len(THREADS), len(THREADS)), "one session for each thread"


def test_a_commands_drain_leaves_held_lanes_alone(journal):
    with running():
        until_held()
        assert drain(ALIAS, LANE).delivered == 0


def test_a_replaced_drainer_files_nothing_and_gets_its_lanes_again(journal):
    in_hand, may_go = threading.Event(), threading.Event()

    def hang():
        if not in_hand.is_set():
            in_hand.set()
            assert may_go.wait(PATIENCE_S)

    with armed("drain.before_filing", hang), running():
        versions = note(2)
        assert in_hand.wait(PATIENCE_S)
        let_lease_expire()
        assert drain(ALIAS, LANE).delivered == 2
        may_go.set()
        more = note()
        until(lambda: delivered() == [*versions, *more])
    assert journal.heard == [versions, versions, more]


def test_it_outlives_the_end_of_its_session(journal):
    with running():
        until_held()
        for (pid,) in fetch_all(ALIAS, HOLDERS):
            execute(ALIAS, "SELECT pg_terminate_backend(%s)", (pid,))
        versions = note()
        until(lambda: delivered() == versions)


def test_a_row_that_waits_for_a_store_is_tried_when_any_store_is_back(journal):
    """Long before its time: the row is a day old, so it would back off for 30 s."""
    [version] = note()
    execute(ALIAS, "UPDATE changes_change SET created_at = now() - interval '1 day'")
    journal.fail_for(version, error=OperationalError("shard3 is away"))
    with running() as drainer:
        until(lambda: is_waiting(version))
        journal.act = lambda _: None
        drainer._threads[0]._recoveries.add()
        until(lambda: delivered() == [version], within_s=20)


def is_waiting(version):
    found = fetch_one(ALIAS, "SELECT is_waiting FROM changes_change WHERE id = %s", (version,))
    return found is not None and found[0]


def test_stopping_finishes_the_batch_in_hand(journal):
    in_hand, may_go = threading.Event(), threading.Event()

    def act(_):
        in_hand.set()
        assert may_go.wait(PATIENCE_S)

    journal.act = act
    with running() as drainer:
        versions = note(3)
        assert in_hand.wait(PATIENCE_S)
        stopping = threading.Thread(target=drainer.stop)
        stopping.start()
        may_go.set()
        stopping.join()
        assert delivered() == versions
    assert fetch_one(ALIAS, HELD)[0] == 0, "its leases are free"


def test_a_fault_of_its_own_does_not_end_a_thread(journal, monkeypatch):
    take, faults = held_lanes.take_batch, ["once"]

    def fail_once(alias, lanes):
        if faults:
            raise ValueError(faults.pop())
        return take(alias, lanes)

    monkeypatch.setattr(held_lanes, "take_batch", fail_once)
    with running():
        versions = note()
        until(lambda: delivered() == versions)


def test_a_lane_does_not_rest_until_a_clock_that_went_back_is_there_again(journal, monkeypatch):
    """The drainer of before is gone, and the next one reads the time that it wrote."""
    with running():
        first = emit(FoldedNoted())
        until(lambda: delivered() == first)
    execute(ALIAS, TAKE_BACK)
    later = emit(FoldedNoted())
    with running():
        until(lambda: delivered() == [*first, *later])
