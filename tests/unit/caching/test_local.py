"""The local tier: bounded in number and in time."""

import time

from infra.caching.local import LocalTier


def test_what_is_kept_is_known_and_the_rest_is_asked_for():
    tier = LocalTier("tests.local", 10, ttl_s=60)
    tier.keep({1: "one", 2: "two"})
    assert tier.split([3, 2, 1, 4]) == ({2: "two", 1: "one"}, [3, 4])


def test_at_most_so_many_are_kept_and_the_newest_stay():
    tier = LocalTier("tests.local", 3, ttl_s=60)
    for number in range(10):
        tier.keep({number: number})
    known, missing = tier.split(range(10))
    assert sorted(known) == [7, 8, 9]
    assert missing == list(range(7))


def test_values_are_gone_after_their_time():
    tier = LocalTier("tests.local", 10, ttl_s=0.05)
    tier.keep({1: "one"})
    deadline = time.monotonic() + 2
    while tier.split([1])[0]:
        assert time.monotonic() < deadline
    assert tier.split([1]) == ({}, [1])


def test_cleared_tier_knows_nothing():
    tier = LocalTier("tests.local", 10, ttl_s=60)
    tier.keep({1: "one"})
    tier.clear()
    assert tier.split([1]) == ({}, [1])
