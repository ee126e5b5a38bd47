"""What is hot, and copies of it: how old they get, when they fall, what is reported."""

import threading

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import hot_keys
from infra.caching.fleet_reads import WINDOW_S
from infra.caching.hot_keys import MOST_REPORTED, REPORT_S, HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from tests.clocks import Clock
from tests.waiting import PATIENCE_S

LIMITS = HotKeyLimits(reads_s=100, copy_s=1.0)
WARM = LIMITS.warm_reads


class Fleet:
    """Stands for Redis: what is reported, and what all others read besides."""

    def __init__(self):
        self.reports = []
        self.rates = {}
        self.is_away = False

    def add_reads(self, reads, wall_s):
        self.reports.append(dict(reads))
        if self.is_away:
            raise RedisConnectionError
        return {name: self.rates.get(name, 0.0) for name in reads}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def fleet(monkeypatch):
    fleet = Fleet()
    monkeypatch.setattr(hot_keys, "add_reads", fleet.add_reads)
    return fleet


@pytest.fixture
def values(clock, fleet):
    return HotValues("tests.hot", name_of, HotKeys(LIMITS, clock, clock))


def name_of(key):
    return b"tests.hot:%d" % key


def read(values, key, times=WARM):
    for _ in range(times):
        values.split((key,))


def pass_second(values, clock):
    """The next read notices, and reports."""
    clock.now += REPORT_S
    values.split(())


def make_hot(values, clock, fleet, key=1):
    fleet.rates[name_of(key)] = float(LIMITS.reads_s)
    read(values, key)
    pass_second(values, clock)
    assert name_of(key) in values.hot_names()


def known(values, key=1):
    return values.split((key,)).hits


def test_what_is_not_hot_is_not_copied(values, clock, fleet):
    reading = values.split((1,))
    values.store({1: "one"}, reading.asked_at)
    assert known(values) == {}


def test_age_counts_from_before_the_value_was_asked_for(values, clock, fleet):
    make_hot(values, clock, fleet)
    reading = values.split((1, 2))
    assert reading.missing == [1, 2]
    clock.now += 0.6  # Redis, or the source, took so long
    values.store({1: "one", 2: "two"}, reading.asked_at)
    clock.now += 0.3
    again = values.split((1, 2))
    assert (again.hits, again.missing) == ({1: "one"}, [2])
    clock.now += 0.1
    assert known(values) == {}


def test_changed_value_falls_and_so_does_what_was_read_before(values, clock, fleet):
    make_hot(values, clock, fleet)
    values.store({1: "old"}, clock.now)
    assert known(values) == {1: "old"}
    slow = values.split((2, 1))
    values.forget_names([name_of(1), name_of(9)])
    assert known(values) == {}
    values.store({1: "old"}, slow.asked_at)
    assert known(values) == {}
    clock.now += 0.01
    values.store({1: "new"}, values.split((1,)).asked_at)
    assert known(values) == {1: "new"}


def test_slow_reader_does_not_bring_the_past_back(values, clock, fleet):
    make_hot(values, clock, fleet)
    slow = values.split((1,))
    clock.now += 0.1
    values.store({1: "new"}, values.split((1,)).asked_at)
    values.store({1: "old"}, slow.asked_at)
    assert known(values) == {1: "new"}


def test_stays_hot_down_to_half_and_its_copy_goes_with_it(values, clock, fleet):
    make_hot(values, clock, fleet)
    fleet.rates[name_of(1)] = LIMITS.reads_s / 2
    pass_second(values, clock)
    values.store({1: "one"}, clock.now)
    assert known(values) == {1: "one"}
    fleet.rates[name_of(1)] -= 1
    pass_second(values, clock)
    assert values.hot_names() == set()
    assert known(values) == {}
    fleet.rates[name_of(1)] = LIMITS.reads_s - 1.0
    read(values, 1)
    pass_second(values, clock)
    assert values.hot_names() == set()


def test_what_is_read_little_is_not_reported(values, clock, fleet):
    read(values, 1, WARM - 1)
    pass_second(values, clock)
    assert fleet.reports == []
    read(values, 1, WARM)
    read(values, 2, WARM - 1)
    pass_second(values, clock)
    assert fleet.reports == [{name_of(1): WARM}]


def test_reports_are_a_second_apart(values, clock, fleet):
    for _ in range(100):
        clock.now += 0.1
        read(values, 1)
    assert 9 <= len(fleet.reports) <= 10


def test_what_was_read_before_a_silence_is_not_reported_after_it(values, clock, fleet):
    read(values, 1, 1_000)
    clock.now += REPORT_S + 2 * WINDOW_S
    values.split(())
    assert fleet.reports == []


def test_keys_that_share_a_name_are_hot_together(clock, fleet):
    """As pages of several lengths of one list are."""
    pages = HotValues("tests.pages", lambda page: name_of(page[0]), HotKeys(LIMITS, clock, clock))
    fleet.rates[name_of(1)] = float(LIMITS.reads_s)
    read(pages, (1, 40), WARM)
    read(pages, (1, 80), WARM)
    pass_second(pages, clock)
    assert fleet.reports == [{name_of(1): 2 * WARM}]
    pages.store({(1, 40): "forty", (1, 80): "eighty"}, clock.now)
    assert known(pages, (1, 80)) == {(1, 80): "eighty"}
    pages.forget_names([name_of(1)])
    assert pages.split(((1, 40), (1, 80))).hits == {}


def test_most_read_are_reported_and_no_more_than_a_report_holds(values, clock, fleet):
    for key in range(MOST_REPORTED + 50):
        read(values, key, WARM + key)
    pass_second(values, clock)
    [report] = fleet.reports
    assert set(report) == {name_of(key) for key in range(50, MOST_REPORTED + 50)}


def test_with_redis_away_nothing_is_hot(values, clock, fleet):
    make_hot(values, clock, fleet)
    values.store({1: "one"}, clock.now)
    fleet.is_away = True
    read(values, 1)
    pass_second(values, clock)
    assert values.hot_names() == set()
    assert known(values) == {}
    fleet.is_away = False
    make_hot(values, clock, fleet)


def test_nobody_waits_for_a_report_that_hangs(values, clock, fleet, monkeypatch):
    answers = []

    def report_slowly(reads, wall_s):
        clock.now += 2 * REPORT_S  # so long that the next report is due
        other = threading.Thread(target=lambda: answers.append(values.split((2,)).missing))
        other.start()
        other.join(timeout=PATIENCE_S)
        return fleet.add_reads(reads, wall_s)

    monkeypatch.setattr(hot_keys, "add_reads", report_slowly)
    read(values, 1)
    clock.now += REPORT_S
    values.split(())
    assert answers == [[2]]
    assert len(fleet.reports) == 1


class LateLock:
    """Another thread has reported by the time that this one gets the lock."""

    def __init__(self, other):
        self.other = other

    def acquire(self, blocking):
        other, self.other = self.other, lambda: None
        other()
        return True

    def release(self):
        pass


def test_of_threads_that_notice_the_second_one_reports(values, clock, fleet, monkeypatch):
    make_hot(values, clock, fleet)
    fleet.reports.clear()
    clock.now += REPORT_S
    lock = LateLock(lambda: values.split(()))
    monkeypatch.setattr(values._hot_keys, "_reporting", lock)
    values.split(())
    assert len(fleet.reports) == 1


def test_get_reads_what_it_has_no_copy_of(values, clock, fleet):
    make_hot(values, clock, fleet)
    answers = iter([None, "one", "never asked"])
    assert values.get(1, lambda: next(answers)) is None
    assert values.get(1, lambda: next(answers)) == "one"
    assert values.get(1, lambda: next(answers)) == "one"
