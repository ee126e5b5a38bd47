"""Who reads the source: one thread of a process, one process of all; what others are shown."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import ModuleType

import pytest
from django.db import OperationalError

from infra.caching import loading, loads_in_progress
from infra.caching import single_flight as flights_module
from infra.caching.client import redis
from infra.caching.errors import LoadTooSlow
from infra.caching.load_tokens import begin_loads
from infra.caching.single_flight import SingleFlight
from infra.caching.values import CHANGE, ValueCache, Versioned
from tests.clocks import Clock, StandInTime
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S, until

FAMILY = "tests.loading:v1"


class Source:
    """Counts its reads; they end when they may."""

    def __init__(self) -> None:
        self.version, self.text, self.reads = 1, b"one", 0
        self.error: Exception | None = None
        self.may_end = threading.Event()
        self.may_end.set()

    def load(self, owners: Sequence[int]) -> Mapping[int, Versioned]:
        may_end = self.may_end  # a test that sees this read may set another one for the next
        self.reads += 1
        found = {owner: Versioned(self.version, self.text) for owner in owners}
        may_end.wait(PATIENCE_S)
        if self.error:
            raise self.error
        return found


@pytest.fixture
def source(cache: object) -> Source:
    return Source()


@pytest.fixture
def slept_s(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """How long those who wait for others' loads have slept, in a time of their own."""
    clock = Clock()
    monkeypatch.setattr(loading, "time", StandInTime(clock))
    return lambda: clock.now - Clock().now


class Waiting:
    """Those who wait for somebody else's load: calls of one function."""

    def __init__(self, patch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
        self.count = 0
        self._told = getattr(module, name)
        patch.setattr(module, name, self._tell)

    def _tell(self, *args: object) -> object:
        self.count += 1
        return self._told(*args)


def load_together(
    source: Source, loads: Sequence[Callable[[], object]], waiting: Waiting
) -> list[object]:
    """The first read of the source ends when all others wait for it, or one reads it as well."""

    def let_end() -> None:
        until(lambda: waiting.count == len(loads) - 1 or source.reads > 1)
        source.may_end.set()

    source.may_end.clear()
    return run_together([*loads, let_end])[:-1]


def process(source: Source, ttl_s: int = 60) -> ValueCache:
    """What another process has: its own flights and copies, the same Redis and source."""
    return ValueCache(FAMILY, ttl_s, source.load)


def test_threads_that_miss_together_read_the_source_once(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, waiting = process(source), Waiting(monkeypatch, loads_in_progress, "_wait")
    monkeypatch.setattr(loads_in_progress, "PATIENCE_S", PATIENCE_S)
    answers = load_together(source, [lambda: spec.load_many([1])] * 16, waiting)
    assert not failures(answers)
    assert answers == [{1: b"one"}] * 16
    assert source.reads == 1


def test_processes_that_miss_together_read_the_source_once(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Waiting(monkeypatch, loading, "count_waits")
    monkeypatch.setattr(loading, "PATIENCE_S", PATIENCE_S)
    answers = load_together(source, [lambda: process(source).load_many([1])] * 8, waiting)
    assert not failures(answers)
    assert answers == [{1: b"one"}] * 8
    assert source.reads == 1


@pytest.mark.parametrize("second_is_slow", [False, True])
def test_a_load_that_outlasts_the_waits_is_made_twice_at_most(
    source: Source, monkeypatch: pytest.MonkeyPatch, second_is_slow: bool
) -> None:
    monkeypatch.setattr(loads_in_progress, "PATIENCE_S", 0.05)
    # Who waits for a quick second load must not give up while the machine is busy.
    monkeypatch.setattr(loading, "TURNS_S", 0.2 if second_is_slow else PATIENCE_S)
    spec, first_may_end, gave_up = process(source), source.may_end, list[object]()
    first_may_end.clear()

    def load() -> object:
        try:
            return spec.load_many([1])
        except LoadTooSlow:
            gave_up.append(1)
            raise

    def follow() -> None:
        until(lambda: source.reads == 1)
        source.may_end = threading.Event()
        if not second_is_slow:
            source.may_end.set()
        until(lambda: len(gave_up) == 6 if second_is_slow else source.reads == 2)
        source.may_end.set()
        first_may_end.set()

    *answers, _ = run_together([*[load] * 8, follow])
    assert source.reads == 2
    assert answers.count({1: b"one"}) == (2 if second_is_slow else 8)


def test_a_holder_that_died_is_not_waited_for_long(
    source: Source, slept_s: Callable[[], float]
) -> None:
    spec = process(source)
    begin_loads(FAMILY, [spec.key(1)])
    assert spec.load_many([1]) == {1: b"one"}
    assert loading.PATIENCE_S <= slept_s() < loading.PATIENCE_S + 2 * loading.POLL_S
    assert process(source).load_many([1]) == {1: b"one"}
    assert source.reads == 1, "it writes under the token of the one that died"


def test_a_token_ends_with_the_load(source: Source) -> None:
    spec = process(source)
    spec.load_many([1])
    first = begin_loads(FAMILY, [spec.key(1)])
    assert first.begun == {spec.key(1)}
    second = begin_loads(FAMILY, [spec.key(1)])
    assert (second.begun, second.by_entry) == (frozenset(), first.by_entry)
    redis().run(second.release_commands([spec.key(1)]))
    assert begin_loads(FAMILY, [spec.key(1)]).begun == {spec.key(1)}


def test_a_load_that_fails_or_finds_nothing_does_not_delay_the_next(source: Source) -> None:
    spec = process(source)
    source.error = OperationalError("the shard is down")
    with pytest.raises(OperationalError):
        spec.load_many([1])
    assert ValueCache(FAMILY, 60, lambda _: {}).load_many([1]) == {}
    assert begin_loads(FAMILY, [spec.key(1)]).begun == {spec.key(1)}


def test_a_stale_entry_is_shown_while_one_reads_it_anew(
    source: Source, monkeypatch: pytest.MonkeyPatch, slept_s: Callable[[], float]
) -> None:
    process(source).load_many([1])
    source.version, source.text = 2, b"two"
    source.may_end.clear()
    now = time.time()
    monkeypatch.setattr("infra.caching.values.time.time", lambda: now + 50)
    reader = threading.Thread(target=lambda: process(source).load_many([1]))
    reader.start()
    until(lambda: source.reads == 2)
    assert process(source).load_many([1]) == {1: b"one"}
    assert slept_s() == 0, "it does not wait"
    source.may_end.set()
    reader.join()
    assert process(source).load_many([1]) == {1: b"two"}
    assert source.reads == 2


def test_a_stale_entry_is_shown_while_the_source_is_away(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    process(source).load_many([1])
    source.error = OperationalError("the shard is down")
    now = time.time()
    monkeypatch.setattr("infra.caching.values.time.time", lambda: now + 50)
    assert process(source).load_many([1]) == {1: b"one"}


def test_a_reader_who_missed_before_a_load_ended_does_not_load_again(source: Source) -> None:
    spec = process(source)
    process(source).load_many([1])
    assert spec.ask_uncopied([1]).decode([[None]]) == {1: b"one"}
    assert source.reads == 1
    assert begin_loads(FAMILY, [spec.key(1)]).begun == {spec.key(1)}, "it released its token"


@contextmanager
def loading_before_a_change(source: Source, spec: ValueCache) -> Iterator[None]:
    """During the block a thread still loads what the source had before its second version."""
    source.may_end.clear()
    slow = threading.Thread(target=lambda: spec.load_many([1]))
    slow.start()
    until(lambda: source.reads == 1)
    source.version, source.text = 2, b"two"
    slow_may_end, source.may_end = source.may_end, threading.Event()
    source.may_end.set()
    yield
    slow_may_end.set()
    slow.join()


def test_a_reader_does_not_join_a_load_from_before_a_change_of_which_no_message_came(
    source: Source,
) -> None:
    spec = process(source)
    with loading_before_a_change(source, spec):
        changed = spec._arguments(Versioned(2, b"two"))
        redis().call(*CHANGE.on(spec._guarded_key(1), *changed))
        assert spec.load_many([1]) == {1: b"two"}
    assert process(source).load_many([1]) == {1: b"two"}


def test_one_of_the_threads_that_waited_for_a_failed_load_loads_for_the_others(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, waiting = process(source), Waiting(monkeypatch, loads_in_progress, "_wait")
    monkeypatch.setattr(loads_in_progress, "PATIENCE_S", PATIENCE_S)
    source.error = OperationalError("the shard is down")

    def recover() -> None:
        until(lambda: waiting.count == 7)
        first = source.may_end
        source.may_end = threading.Event()
        first.set()
        until(lambda: waiting.count == 7 + 6)
        source.error = None
        source.may_end.set()

    source.may_end.clear()
    *answers, _ = run_together([*[lambda: spec.load_many([1])] * 8, recover])
    assert [type(one) for one in answers if isinstance(one, Exception)] == [OperationalError]
    assert source.reads == 2


def test_who_changes_and_reads_is_not_given_what_was_read_before(source: Source) -> None:
    spec = process(source)
    with loading_before_a_change(source, spec):
        spec.refresh({1: Versioned(2, b"two")})
        assert spec.load_many([1]) == {1: b"two"}
    assert process(source).load_many([1]) == {1: b"two"}, "the old value never stays"


def test_a_load_that_fails_fails_for_its_caller_and_others_load_for_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flights: SingleFlight[int, int] = SingleFlight()
    first_is_in, second_waits = threading.Event(), threading.Event()
    wait = flights_module._wait

    def wait_aloud(flight: Future[Mapping[int, int]]) -> Mapping[int, int] | None:
        second_waits.set()
        return wait(flight)

    def fail(_: Sequence[int]) -> Mapping[int, int]:
        first_is_in.set()
        assert second_waits.wait(PATIENCE_S)
        raise OperationalError("away")

    def late() -> dict[int, int]:
        first_is_in.wait(PATIENCE_S)
        return flights.load([1], lambda keys: dict.fromkeys(keys, 7))

    monkeypatch.setattr(flights_module, "_wait", wait_aloud)
    first, second = run_together([lambda: flights.load([1], fail), late])
    assert isinstance(first, OperationalError)
    assert second == {1: 7}


def test_flights_of_other_keys_do_not_wait() -> None:
    flights: SingleFlight[int, int] = SingleFlight()
    may_land = threading.Event()

    def slowly(keys: Sequence[int]) -> Mapping[int, int]:
        may_land.wait(PATIENCE_S)
        return dict.fromkeys(keys, 1)

    thread = threading.Thread(target=lambda: flights.load([1], slowly))
    thread.start()
    assert flights.load([2], lambda keys: dict.fromkeys(keys, 2)) == {2: 2}
    may_land.set()
    thread.join()
