"""The local tier: bounded in number and in time."""

import time

import pytest

from infra.caching import process_cache
from infra.caching.copy_ages import AgeLimit
from infra.caching.process_cache import ProcessCache
from tests.clocks import Clock

MINUTE = AgeLimit(60, 60)
NOW = float("inf")  # asked for after everything that happens here


def test_what_is_kept_is_known_and_the_rest_is_asked_for():
    tier = ProcessCache("tests.local", 10, MINUTE)
    tier.store({1: "one", 2: "two"}, NOW)
    assert tier.split([3, 2, 1, 4])[:2] == ({2: "two", 1: "one"}, [3, 4])


def test_at_most_so_many_are_kept_and_the_newest_stay():
    tier = ProcessCache("tests.local", 3, MINUTE)
    for number in range(10):
        tier.store({number: number}, NOW)
    known, missing, _ = tier.split(range(10))
    assert sorted(known) == [7, 8, 9]
    assert missing == list(range(7))


def test_what_few_ask_for_drops_nothing():
    tier = ProcessCache("tests.local", 3, MINUTE)
    tier.store({1: "one"}, NOW)
    tier.store_in_spare_room({2: "two", 3: "three"}, NOW)
    tier.store_in_spare_room({4: "four"}, NOW)
    assert tier.split([1, 2, 3, 4])[:2] == ({1: "one", 2: "two", 3: "three"}, [4])


@pytest.mark.parametrize(("is_proved", "ends_after_s"), [(False, 1), (True, 30)])
def test_values_are_gone_after_their_time(is_proved, ends_after_s):
    clock = Clock()
    tier = ProcessCache("tests.local", 10, AgeLimit(1, 30, lambda _: is_proved), clock)
    tier.store({1: "one"}, clock.now)
    clock.now += ends_after_s - 0.01
    assert tier.split([1]).hits == {1: "one"}
    assert (tier.has_all([1]), tier.has(1, "one")) == (True, True)
    clock.now += 0.01
    assert tier.split([1])[:2] == ({}, [1])
    assert (tier.has_all([1]), tier.has(1, "one")) == (False, False)


def test_a_value_without_a_proof_ends_and_is_valid_again_with_one():
    clock, proved = Clock(), [True]
    tier = ProcessCache("tests.local", 10, AgeLimit(1, 30, lambda _: proved[0]), clock)
    tier.store({1: "one"}, clock.now)
    clock.now += 2
    proved[0] = False
    assert tier.split([1]).hits == {}
    proved[0] = True
    assert tier.split([1]).hits == {1: "one"}, "no invalidation has named it"


def test_what_ends_soon_is_read_again_with_what_is_missing(monkeypatch):
    tier = ProcessCache("tests.local", 10, MINUTE)
    tier.store({1: "one"}, time.monotonic())
    monkeypatch.setattr(process_cache, "SOON_SHARE", 1.0)
    assert tier.split([1])[:2] == ({1: "one"}, []), "nothing is missing"
    assert tier.split([1, 2])[:2] == ({}, [1, 2])


def test_cleared_tier_knows_nothing():
    tier = ProcessCache("tests.local", 10, MINUTE)
    tier.store({1: "one"}, NOW)
    tier.forget_all()
    assert tier.split([1])[:2] == ({}, [1])


def test_what_was_asked_for_before_it_changed_is_not_kept():
    clock = Clock()
    tier = ProcessCache("tests.local", 10, MINUTE, clock)
    asked_at = tier.split([1, 2]).asked_at
    clock.now += 1
    tier.forget([1])
    tier.store({1: "old", 2: "same"}, asked_at)
    assert tier.split([1, 2])[:2] == ({2: "same"}, [1])
    clock.now += 1
    tier.store({1: "new"}, tier.split([1]).asked_at)
    assert tier.split([1]).hits == {1: "new"}


def test_nothing_that_was_asked_for_before_messages_were_missed_is_kept():
    clock = Clock()
    tier = ProcessCache("tests.local", 10, MINUTE, clock)
    asked_at = tier.split([1]).asked_at
    clock.now += 1
    tier.forget_all()
    tier.store({1: "old"}, asked_at)
    assert tier.split([1])[:2] == ({}, [1])
