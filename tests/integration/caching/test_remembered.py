"""Remembered answers: used again while Redis gives the replies that they were made of."""

from collections.abc import Callable
from typing import Any

import pytest
from hiredis import pack_command

from infra.caching.client import FeedRedis
from infra.caching.remembered import AN_ANSWER, Memory, Room
from infra.evidence import note_end, note_other_source
from infra.sharding.sql import fetch_one
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.redis_away import redis_away, wait_for_redis

NOW_MS = 1_000_000
TTL_MS = 1_000
KEY, WEEK = b"tests.value:v1:{1}", b"tests.week:v1:{1}:7"


def memory_of(*keys: object, most: int = 100_000) -> Memory[list[Any]]:
    """A memory that has answered these once, so it remembers their next answers."""
    memory: Memory[list[Any]] = Memory("tests.answers", len, Room(most, TTL_MS))
    for key in keys:
        memory.make(key, NOW_MS, list)
    return memory


class Answers:
    """Answers of one memory, each a new object."""

    def __init__(self, cache: FeedRedis, *commands: tuple[Any, ...]) -> None:
        self.memory = memory_of("key")
        self._cache, self._commands = cache, commands or (("GET", KEY),)

    def get(self, at_ms: int = NOW_MS, also: Callable[[], object] = lambda: None) -> list[Any]:
        return self.memory.find_or_make("key", at_ms, lambda: self._make(also))

    def _make(self, also: Callable[[], object]) -> list[Any]:
        replies = self._cache.run(self._commands)
        also()
        return replies


@pytest.fixture
def answers(cache: FeedRedis) -> Answers:
    return Answers(cache)


def test_an_answer_is_used_again_after_one_round_trip(answers: Answers) -> None:
    first = answers.get()
    with count_calls() as calls:
        assert answers.get() is first
    assert calls.round_trips == 1


def test_an_answer_is_remembered_when_it_is_made_for_the_second_time(cache: FeedRedis) -> None:
    memory = memory_of()

    def get() -> list[Any]:
        return memory.find_or_make("key", NOW_MS, lambda: cache.run([("GET", KEY)]))

    first = get()
    second = get()
    assert second is not first
    assert get() is second


def test_more_answers_in_turn_than_the_memory_holds_are_not_remembered(cache: FeedRedis) -> None:
    """Each would end before it is used, so nothing is noted that would confirm it."""
    memory = memory_of(most=3 * AN_ANSWER)

    def get(number: int) -> list[Any]:
        return memory.find_or_make(number, NOW_MS, lambda: cache.run([("GET", KEY)]))

    for number in [*range(5)] * 3:
        get(number)
    assert [memory.peek(number, NOW_MS) for number in range(5)] == [None] * 5
    get(0)
    assert get(0) is get(0)


def test_a_key_is_forgotten_after_as_many_bytes_of_others_as_the_memory_holds(
    cache: FeedRedis,
) -> None:
    memory = memory_of(most=10 * AN_ANSWER)

    def get(number: int, size: int = 1) -> list[Any]:
        return memory.find_or_make(number, NOW_MS, lambda: cache.run([("GET", KEY)]) * size)

    get(1), get(2, 4 * AN_ANSWER), get(1)
    assert memory.peek(1, NOW_MS) is not None
    get(3), get(4, 9 * AN_ANSWER), get(3)
    assert memory.peek(3, NOW_MS) is None


def test_another_reply_makes_another_answer(answers: Answers, cache: FeedRedis) -> None:
    first = answers.get()
    cache.call("SET", KEY, b"new")
    assert answers.get() == [b"new"] != first


def test_each_reply_of_each_trip_counts(cache: FeedRedis) -> None:
    answers = Answers(cache, ("GET", KEY), ("MGET", b"tests:v1:{2}", b"tests:v1:{3}"))
    also = b"tests:v1:{4}"
    first = answers.get(also=lambda: cache.call("GET", also))
    assert answers.get() is first
    for key in (b"tests:v1:{3}", also):
        cache.call("SET", key, b"new")
        made = answers.get(also=lambda: cache.call("GET", also))
        assert made is not first
        first = made
        assert answers.get() is first


def test_a_command_that_was_sent_twice_confirms_once(cache: FeedRedis) -> None:
    answers = Answers(cache, ("GET", KEY), ("GET", KEY))
    first = answers.get()
    sent = list[Any]()
    run = cache._run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_run", lambda commands: sent.extend(commands) or run(commands))
        assert answers.get() is first
    assert sent == [pack_command(("GET", KEY))]


def test_what_changed_between_two_of_its_reads_is_not_remembered(cache: FeedRedis) -> None:
    answers = Answers(cache, ("GET", KEY))

    def change_and_read_again() -> None:
        run_together([lambda: cache.call("SET", KEY, b"new")])
        cache.call("GET", KEY)

    answers.get(also=change_and_read_again)
    assert answers.memory.peek("key", NOW_MS) is None


def test_the_version_of_a_hash_stands_for_its_fields(cache: FeedRedis) -> None:
    cache.call("HSET", WEEK, "!", 1, "5", b"text")
    answers = Answers(cache, ("HMGET", WEEK, "!", "5"))
    first = answers.get()
    sent = list[Any]()
    run = cache._run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_run", lambda commands: sent.extend(commands) or run(commands))
        assert answers.get() is first
    assert sent == [pack_command(("HGET", WEEK, "!"))]
    cache.call("HSET", WEEK, "!", 2, "5", b"other")
    assert answers.get() == [[b"2", b"other"]]


@pytest.mark.parametrize(
    "also",
    [
        lambda cache: cache.call("SET", b"tests:v1:{5}", b"written"),
        lambda _: note_other_source(),
        lambda _: fetch_one("default", "SELECT 1"),
    ],
    ids=["it writes", "another source", "a shard"],
)
def test_what_no_reply_says_is_not_remembered(
    world: None, answers: Answers, cache: FeedRedis, also: Callable[[FeedRedis], object]
) -> None:
    first = answers.get(also=lambda: also(cache))
    assert answers.get() is not first


def test_an_answer_without_any_reply_is_not_remembered(cache: FeedRedis) -> None:
    memory = memory_of("key")
    assert memory.find_or_make("key", NOW_MS, list) is not memory.find_or_make("key", NOW_MS, list)


def test_an_answer_ends_when_its_maker_says_so(answers: Answers) -> None:
    first = answers.get(also=lambda: note_end(NOW_MS + 10))
    assert answers.get(NOW_MS + 9) is first
    assert answers.get(NOW_MS + 10) is not first


def test_an_end_before_the_answer_ends_nothing(answers: Answers) -> None:
    first = answers.get(also=lambda: note_end(NOW_MS))
    assert answers.get(NOW_MS + 1) is first


def test_an_answer_ends_after_its_time(answers: Answers) -> None:
    first = answers.get()
    assert answers.get(NOW_MS + TTL_MS - 1) is first
    assert answers.get(NOW_MS + TTL_MS) is not first


def test_without_redis_nothing_remembered_is_used(answers: Answers) -> None:
    first = answers.get()
    with redis_away():
        made = answers.memory.find_or_make("key", NOW_MS, lambda: [b"from the shards"])
    wait_for_redis()
    assert made == [b"from the shards"]
    assert answers.get() is not first


def test_what_other_threads_ask_is_no_evidence(answers: Answers, cache: FeedRedis) -> None:
    def write_elsewhere() -> None:
        wrote = run_together([lambda: cache.call("SET", b"tests:v1:{6}", b"x")])
        assert failures(wrote) == []

    first = answers.get(also=write_elsewhere)
    assert answers.get() is first


def test_long_keys_weigh_what_they_have(cache: FeedRedis) -> None:
    """A client could fill the memory with its queries."""
    short, long = ("path", "x"), ("path", "x" * 9_000)
    memory = memory_of(short, long, most=9_000)
    for key in (short, long):
        memory.find_or_make(key, NOW_MS, lambda: cache.run([("GET", KEY)]))
    assert memory.peek(short, NOW_MS) is not None
    assert memory.peek(long, NOW_MS) is None


def test_answers_weigh_what_they_have_and_what_confirms_them(cache: FeedRedis) -> None:
    memory = memory_of(1, 2, 3, most=12_000)

    def get(number: int, size: int) -> list[Any]:
        key = b"tests:v1:{%d}" % number
        return memory.find_or_make(number, NOW_MS, lambda: cache.run([("GET", key)]) * size)

    first, large = get(1, 5_000), get(2, 7_000)
    assert get(1, 5_000) is not first, "both together weigh too much"
    get(1, 5_000)
    assert get(2, 7_000) is not large
    assert get(3, 12_001) is not get(3, 12_001), "more than all may weigh"
