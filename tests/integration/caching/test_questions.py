"""Questions of several modules in one round trip."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import (
    Question,
    RoundTrip,
    answer,
    answer_by_redis,
    answer_of,
    ask_along,
    ask_both,
    ask_each,
)
from infra.caching.single import SingleClient
from infra.confirmations import confirm_now, confirming
from tests.budgets import count_calls

ONE, TWO = key("tests.question:v1", 1), key("tests.question:v1", 2)


def ask_value(name, decode=lambda replies: replies):
    return Question([("GET", name)], decode)


@pytest.fixture
def values(world):
    redis().run([("SET", ONE, "one"), ("SET", TWO, "two")])


def test_each_question_gets_its_own_replies_in_one_round_trip(values):
    trip = RoundTrip()
    both = trip.ask(Question([("GET", ONE), ("GET", TWO)], tuple))
    nothing = trip.ask(Question((), list))
    second = trip.ask(ask_value(TWO))
    with count_calls() as calls:
        trip.run()
    assert calls.round_trips == 1
    assert (both.value, nothing.value, second.value) == ((b"one", b"two"), [], [b"two"])


def test_a_question_goes_along_with_the_next_round_trip_of_the_request(values):
    with confirming(), count_calls() as calls:
        along, last = ask_along(ask_value(ONE)), ask_along(Question((), list))
        assert answer(ask_value(TWO)) == [b"two"]
        confirm_now()
        assert (answer_of(along), answer_of(last), calls.round_trips) == ([b"one"], [], 1)
        other = ask_along(ask_value(TWO))
        confirm_now()
        assert (answer_of(other), calls.round_trips) == ([b"two"], 2)
    assert answer_of(ask_along(ask_value(ONE))) == [b"one"], "outside of a request"


def test_without_commands_there_is_no_round_trip(values):
    with count_calls() as calls:
        assert answer(Question((), lambda replies: replies)) == []
    assert calls.round_trips == 0


def test_an_answer_is_decoded_once_and_only_if_it_is_used(values):
    decoded = []
    used, unused = ask_value(ONE, decoded.append), ask_value(TWO, decoded.append)
    trip = RoundTrip()
    trip.ask(used), trip.ask(unused)
    trip.run()
    assert decoded == []
    _ = used.value, used.value
    assert decoded == [[b"one"]]


def test_without_redis_a_question_that_went_along_has_no_replies(values, monkeypatch):
    with monkeypatch.context() as patch, confirming():
        patch.setattr(SingleClient, "run", _fail)
        along = ask_along(ask_value(ONE))
        assert answer(ask_value(TWO)) is None
        confirm_now()
        assert answer_of(along) is None


def _fail(*_):
    raise RedisConnectionError("away")


def test_without_redis_every_question_is_answered_without_replies(values, monkeypatch):
    trip = RoundTrip()
    asked = [trip.ask(ask_value(ONE)), trip.ask(Question((), lambda replies: replies))]
    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", _fail)
        trip.run()
    assert [(one.value, one.replies) for one in asked] == [(None, None)] * 2
    assert isinstance(trip.error, RedisConnectionError)


def test_an_error_reply_is_as_no_redis(values):
    trip = RoundTrip()
    asked = trip.ask(Question([("UNKNOWN",)], lambda replies: replies))
    trip.run()
    assert asked.value is None
    assert isinstance(trip.error, ResponseError)


def test_then_changes_the_answer_and_not_the_commands(values):
    question = ask_value(ONE, lambda replies: replies[0]).then(bytes.upper)
    assert answer(question) == b"ONE"


def test_both_and_each_give_every_question_its_own_replies(values):
    pair = Question([("GET", ONE), ("GET", TWO)], list)
    both = ask_both(pair, ask_each({1: ask_value(TWO), 2: Question((), list), 3: pair}))
    expected = ([b"one", b"two"], {1: [b"two"], 2: [], 3: [b"one", b"two"]})
    with count_calls() as calls:
        assert answer(both) == answer_by_redis(both) == expected
    assert calls.round_trips == 2


def test_both_and_each_are_answered_without_redis(values, monkeypatch):
    def fail(*_):
        raise RedisConnectionError("away")

    both = ask_both(ask_value(ONE), ask_each({1: ask_value(TWO)}))
    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", fail)
        assert answer(both) == (None, {1: None})
        with pytest.raises(RedisConnectionError):
            answer_by_redis(both)


def test_commands_run_in_the_order_of_the_questions(values):
    trip = RoundTrip()
    trip.ask(Question([("SET", ONE, "new")], list))
    after = trip.ask(ask_value(ONE))
    trip.run()
    assert after.value == [b"new"]
