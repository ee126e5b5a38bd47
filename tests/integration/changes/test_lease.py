"""The lease: one drainer a lane, taken over when it is gone or hangs, and fenced when replaced."""

import threading
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest
from django.db import connections

from infra.changes import compensate as drains
from infra.changes import lease as leases
from infra.changes.compensate import drain
from infra.changes.errors import LeaseLost
from infra.changes.lease import lease, renew
from infra.sharding.sql import fetch_one
from tests.dying import armed
from tests.integration.changes.kinds import (
    ALIAS,
    LANE,
    OTHER_LANE,
    OTHER_OWNER,
    delivered,
    let_lease_expire,
    note,
    pending,
)
from tests.races import run_together
from tests.waiting import PATIENCE_S, until

LEFT_S = "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM changes_drainlease"
HOLDER = "SELECT backend_pid FROM changes_drainlease WHERE lane = 1"


class HungDrainer:
    """A drain in a thread of its own that stops at a failpoint until it is let go."""

    def __init__(self, place):
        self.place = place
        self.is_there, self.may_go = threading.Event(), threading.Event()
        self.outcome = []
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            self.outcome.append(drain(ALIAS, LANE))
        except Exception as error:
            self.outcome.append(error)
        finally:
            connections.close_all()

    def _stop_here(self):
        if threading.current_thread() is self.thread:
            self.is_there.set()
            assert self.may_go.wait(PATIENCE_S)


@contextmanager
def hung(place):
    drainer = HungDrainer(place)
    with armed(place, drainer._stop_here):
        drainer.thread.start()
        try:
            assert drainer.is_there.wait(PATIENCE_S)
            yield drainer
        finally:
            drainer.may_go.set()
            drainer.thread.join()


def test_one_at_a_time(journal):
    versions = note(3)
    with hung("drain.before_filing") as holder:
        report = drain(ALIAS, LANE)
        assert (report.delivered, report.more) == (0, False)
        assert pending() == versions
    assert holder.outcome[0].delivered == 3
    assert journal.heard == [versions]


def test_of_many_that_start_together_one_drains(journal):
    versions = note(20)
    reports = run_together([partial(drain, ALIAS, LANE)] * 8)
    assert sum(report.delivered for report in reports) == 20
    assert delivered() == versions
    assert len(journal.heard) == 1


def test_lanes_do_not_wait_for_each_other(journal):
    note()
    other = note(owner_id=OTHER_OWNER)
    with hung("drain.before_filing"):
        assert drain(ALIAS, OTHER_LANE).delivered == 1
        assert delivered() == other


def test_drainer_whose_connection_is_gone_is_replaced_at_once(journal):
    versions = note(2)
    with hung("drain.before_filing") as holder:
        end_session(fetch_one(ALIAS, HOLDER)[0])
        assert drain(ALIAS, LANE).delivered == 2
    assert holder.outcome[0].delivered == 0, "it has another session now, and not the lease"
    assert delivered() == versions


def test_the_session_of_a_holder_is_not_ended_when_it_is_idle(journal):
    shown = "SHOW idle_session_timeout"
    before = fetch_one(ALIAS, shown)
    with lease(ALIAS, [LANE]):
        assert fetch_one(ALIAS, shown) == ("0",)
    assert fetch_one(ALIAS, shown) == before != ("0",), "and then it may end again"


def end_session(pid):
    parameters = connections[ALIAS].get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        while other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone():
            pass


def test_drainer_that_hangs_is_replaced_when_its_lease_is_over(journal):
    versions = note(2)
    with hung("drain.before_filing"):
        assert drain(ALIAS, LANE).delivered == 0
        let_lease_expire()
        assert drain(ALIAS, LANE).delivered == 2
        assert delivered() == versions


@pytest.mark.parametrize("place", ["drain.before_delivery", "drain.before_filing"])
def test_replaced_drainer_cannot_file(journal, place):
    """Not even rows that came since and that its successor has not come to yet."""
    versions = note(2)
    with hung(place) as replaced:
        let_lease_expire()
        with lease(ALIAS, [LANE]) as tokens:
            replaced.may_go.set()
            replaced.thread.join()
            renew(ALIAS, tokens)
    assert replaced.outcome[0].delivered == 0
    assert replaced.outcome[0].more is True
    assert (pending(), delivered()) == (versions, [])


def test_replaced_drainer_does_not_release_its_successors_lease(journal):
    note()
    with hung("drain.before_filing") as replaced:
        let_lease_expire()
        with lease(ALIAS, [LANE]) as tokens:
            replaced.may_go.set()
            replaced.thread.join()
            renew(ALIAS, tokens)
            with lease(ALIAS, [LANE]) as other:
                assert other == {}


def test_token_that_is_not_the_newest_is_refused(world):
    with lease(ALIAS, [LANE]) as first:
        let_lease_expire()
        with lease(ALIAS, [LANE]) as second:
            assert second[LANE] > first[LANE]
            with pytest.raises(LeaseLost):
                renew(ALIAS, first)
    with pytest.raises(LeaseLost):
        renew(ALIAS, second)


def test_of_several_lanes_the_free_ones_are_leased(world):
    with lease(ALIAS, [LANE]) as one, lease(ALIAS, [OTHER_LANE, LANE]) as rest:
        assert (one.keys(), rest.keys()) == ({LANE}, {OTHER_LANE})
        with pytest.raises(LeaseLost):
            renew(ALIAS, {**rest, LANE: one[LANE] - 1})
        renew(ALIAS, {**rest, **one})


def test_lease_runs_for_its_time_and_renewing_prolongs_it(world, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 3_600)  # seconds that pass meanwhile are few of them
    with lease(ALIAS, [LANE]) as tokens:
        assert 3_000 < fetch_one(ALIAS, LEFT_S)[0] <= 3_600
        let_lease_expire()
        renew(ALIAS, tokens)
        assert 3_000 < fetch_one(ALIAS, LEFT_S)[0] <= 3_600


def test_slow_batch_keeps_its_lease(journal, monkeypatch):
    """Without beats it would be taken over and begun again, and again, and never be filed."""
    monkeypatch.setattr(leases, "BEAT_EVERY_S", 0.02)
    versions = note(2)
    with hung("drain.before_filing") as slow:
        let_lease_expire()
        until(lambda: fetch_one(ALIAS, LEFT_S)[0] > 0)
        assert drain(ALIAS, LANE).delivered == 0
    assert slow.outcome[0].delivered == 2
    assert journal.heard == [versions]


def test_heart_stops_beating_with_its_drain_and_after_its_time(world, monkeypatch):
    monkeypatch.setattr(leases, "BEAT_EVERY_S", 0.01)
    monkeypatch.setattr(leases, "MAX_BEATS", 3)
    with lease(ALIAS, [LANE]) as tokens, leases.Heartbeat(ALIAS, tokens) as heartbeat:
        until(lambda: not heartbeat.is_beating)
    monkeypatch.setattr(leases, "BEAT_EVERY_S", 60)
    with lease(ALIAS, [LANE]) as tokens, leases.Heartbeat(ALIAS, tokens) as heartbeat:
        assert heartbeat.is_beating
    assert not heartbeat.is_beating


def test_progress_lets_the_heart_beat_on(world, monkeypatch):
    monkeypatch.setattr(leases, "BEAT_EVERY_S", 0.01)
    monkeypatch.setattr(leases, "MAX_BEATS", 3)
    with lease(ALIAS, [LANE]) as tokens, leases.Heartbeat(ALIAS, tokens) as heartbeat:
        for _ in range(20):
            heartbeat.progress()
            beats = heartbeat._beats
            until(lambda beats=beats: heartbeat._beats > beats)
        until(lambda: not heartbeat.is_beating)


def test_change_that_comes_after_the_last_look_is_reported(journal, monkeypatch):
    """Another drain finds the lane taken; the holder reads once more after the release."""
    take, late = drains.take_batch, []

    def take_and_be_late(alias, lanes):
        rows = take(alias, lanes)
        if not rows and not late:
            late.extend(note())
            run_together([partial(drain, ALIAS, LANE)])
        return rows

    monkeypatch.setattr(drains, "take_batch", take_and_be_late)
    first = note()
    assert drain(ALIAS, LANE).more is True
    assert (delivered(), pending()) == (first, late)
    assert drain(ALIAS, LANE).more is False
    assert delivered() == [*first, *late]
