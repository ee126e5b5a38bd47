"""Calls that Redis did not get: they are made again in order, together where they are equal."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import unsent
from infra.caching.unsent import Call, UnsentCalls

made = []


def lists(alias, items):
    made.append(("lists", alias, items))


def log(items):
    made.append(("log", items))


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


def never():
    raise AssertionError("Redis was emptied")


def test_equal_calls_are_made_as_one():
    calls = UnsentCalls()
    for item in "abc":
        calls.keep(Call(lists, ("shard0",)), [item])
    calls.keep(Call(lists, ("shard1",)), ["d"])
    assert calls.send(never)
    assert made == [("lists", "shard0", ["a", "b", "c"]), ("lists", "shard1", ["d"])]
    assert calls.send(never)
    assert len(made) == 2


def test_a_call_is_new_when_no_equal_one_waits():
    calls, call = UnsentCalls(), Call(log, ())
    assert [calls.keep(call, ()), calls.keep(call, ())] == [True, False]
    calls.send(never)
    assert made == [("log", [])]
    assert calls.keep(call, ())


def test_log_comes_after_the_caches_of_all_changes():
    """The first change failed at the log only, the second one at both."""
    calls = UnsentCalls()
    for call, item in ((Call(log, ()), 1), (Call(lists, ("a",)), 2), (Call(log, ()), 2)):
        calls.keep(call, [item])
    calls.send(never)
    assert made == [("lists", "a", [2]), ("log", [1, 2])]


def test_call_that_fails_again_stays_first():
    calls, outcomes = UnsentCalls(), [RedisConnectionError("away"), None]

    def flaky(items):
        if error := outcomes.pop(0):
            calls.keep(Call(flaky, ()), [2])
            raise error
        made.append(("flaky", items))

    calls.keep(Call(flaky, ()), [1])
    calls.keep(Call(log, ()), [1])
    with pytest.raises(RedisConnectionError):
        calls.send(never)
    assert made == []
    assert calls.send(never)
    assert made == [("flaky", [1, 2]), ("log", [1])]


def test_calls_after_one_that_failed_are_made_now_and_again():
    """One node is away. What others must forget does not wait for it, and keeps its order."""
    calls, outcomes = UnsentCalls(goes_on=True), [RedisConnectionError("away"), None]

    def of_dead_node(items):
        if error := outcomes.pop(0):
            raise error
        made.append(("dead", items))

    calls.keep(Call(lists, ("a",)), [0])
    calls.keep(Call(of_dead_node, ()), [1])
    calls.keep(Call(log, ()), [1])
    with pytest.raises(RedisConnectionError):
        calls.send(never)
    assert made == [("lists", "a", [0]), ("log", [1])]
    assert calls.wait_until_tried(0)
    assert not calls.is_empty
    made.clear()
    assert calls.send(never)
    assert made == [("dead", [1]), ("log", [1])]


def test_call_that_fails_for_another_reason_is_left_to_the_drain():
    def broken(items):
        raise ZeroDivisionError

    calls = UnsentCalls()
    calls.keep(Call(broken, ()), [1])
    calls.keep(Call(log, ()), [1])
    assert calls.send(never)
    assert made == [("log", [1])]


def test_large_calls_are_split(monkeypatch):
    monkeypatch.setattr(unsent, "BATCH_SIZE", 2)
    calls = UnsentCalls()
    calls.keep(Call(log, ()), [1, 2, 3])
    calls.send(never)
    assert made == [("log", [1, 2]), ("log", [3])]


def test_more_than_is_worth_sending_empties_redis_instead(monkeypatch):
    monkeypatch.setattr(unsent, "MOST_UNSENT", 3)
    calls, is_away = UnsentCalls(), [True]

    def clear():
        if is_away[0]:
            raise RedisConnectionError("away")
        made.append("cleared")

    for item in range(5):
        calls.keep(Call(log, ()), [item])
    with pytest.raises(RedisConnectionError):
        calls.send(clear)
    is_away[0] = False
    calls.send(clear)
    assert made == ["cleared", ("log", [4])]
    calls.send(clear)
    assert len(made) == 2
