"""Commands that share a round trip: their order, their replies, and what an error leaves."""

import pytest
from redis.exceptions import ResponseError

from infra.caching.client import redis
from infra.caching.round_trips import one_round_trip, run_together
from tests.budgets import count_calls

KEY = "round_trips:test"


@pytest.fixture(autouse=True)
def _empty():
    redis().call("DEL", KEY)


def entries() -> list[bytes]:
    return redis().call("LRANGE", KEY, 0, -1)


def push(text: str):
    return [("RPUSH", KEY, text)]


def test_commands_are_sent_together_in_order():
    with count_calls() as calls, one_round_trip():
        run_together(push("a"))
        run_together(push("b"))
    assert calls.round_trips == 1
    assert entries() == [b"a", b"b"]


def test_last_commands_have_a_second_round_trip():
    with count_calls() as calls, one_round_trip():
        run_together(push("last"), is_last=True)
        run_together(push("first"))
    assert calls.round_trips == 2
    assert entries() == [b"first", b"last"]


def test_last_commands_are_sent_after_an_error_of_a_part():
    with pytest.raises(ZeroDivisionError), one_round_trip():
        run_together(push("first"), lambda _: 1 / 0)
        run_together(push("last"), is_last=True)
    assert entries() == [b"first", b"last"]


def test_without_a_block_they_are_sent_at_once():
    run_together(push("a"), lambda replies: run_together(push(f"after {replies[0]}")))
    assert entries() == [b"a", b"after 1"]


def test_each_part_gets_its_own_replies():
    got = []
    with one_round_trip():
        run_together(push("a") + push("b"), got.append)
        run_together([], got.append)
        run_together(push("c"), got.append)
        assert got == []
    assert got == [[1, 2], [], [3]]


def test_an_inner_block_has_a_round_trip_of_its_own():
    with one_round_trip():
        run_together(push("b"))
        with one_round_trip():
            run_together(push("a"))
        assert entries() == [b"a"]
    assert entries() == [b"a", b"b"]


def test_a_refused_command_is_raised_and_every_part_learns_it():
    got = []
    with pytest.raises(ResponseError), one_round_trip():
        run_together(push("a"), got.append)
        run_together([("NO_SUCH_COMMAND",)], got.append)
    assert got == [None, None]
    assert entries() == [b"a"]


def test_an_error_in_the_block_sends_nothing():
    got = []
    with pytest.raises(ZeroDivisionError), one_round_trip():
        run_together(push("a"), got.append)
        1 / 0  # noqa: B018
    assert got == [None]
    assert entries() == []
    run_together(push("b"))
    assert entries() == [b"b"]


def test_an_error_of_one_part_does_not_stop_the_next():
    got = []
    with pytest.raises(ZeroDivisionError), one_round_trip():
        run_together(push("a"), lambda _: 1 / 0)
        run_together(push("b"), got.append)
    assert got == [[2]]
