"""Values that are in process memory for a short time."""

from concurrent.futures import ThreadPoolExecutor
from weakref import ref

from infra.caching.short_lived import ShortLived

TTL_MS = 1_000


def by_number(_: object) -> int:
    """All weigh the same."""
    return 1


class Value:
    """Something that a weak reference can name."""


def test_a_value_is_there_until_its_time_ends() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 5)
    assert values.get("a", 5) == values.get("a", 5 + TTL_MS - 1) == "value"
    assert values.get("a", 5 + TTL_MS) is None and values.get("b", 5) is None


def test_a_clock_that_was_set_back_ends_it() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 5_000)
    assert values.get("a", 4_999) is None


def test_a_value_that_is_stored_again_has_a_new_time() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "old", 0)
    values.put("a", "new", 900)
    assert values.get("a", 1_500) == "new"


def test_the_least_recently_used_one_goes_first() -> None:
    values = ShortLived[str, str](2, TTL_MS, by_number)
    values.put("a", "a", 0)
    values.put("b", "b", 0)
    values.get("a", 1)
    values.put("c", "c", 2)
    assert [values.get(key, 3) for key in "abc"] == ["a", None, "c"]


def test_an_ended_value_goes_although_another_one_is_stored_all_the_time() -> None:
    """Else what it holds would stay in memory, and nothing would ever use it."""
    values = ShortLived[str, Value](10, TTL_MS, by_number)
    values.put("often", Value(), 0)
    once = Value()
    values.put("once", once, 0)
    gone = ref(once)
    del once
    values.put("often", Value(), TTL_MS - 1)
    assert gone() is not None
    values.put("often", Value(), TTL_MS)
    assert gone() is None


def test_nothing_is_left_after_clear() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("a", "value", 0)
    values.clear()
    assert values.get("a", 0) is None


def test_a_request_that_began_earlier_drops_no_newer_value() -> None:
    values = ShortLived[str, str](10, TTL_MS, by_number)
    values.put("newer", "value", 50)
    values.put("earlier", "value", 10)
    assert values.get("newer", 60) == "value"


def test_threads_may_store_and_clear_at_the_same_time() -> None:
    values = ShortLived[int, int](50, 5, by_number)

    def store(step: int) -> None:
        for n in range(20_000):
            values.put(step * n % 97, n, n % 4_000)
            if n % 100 == 0:
                values.clear()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(store, (3, 5, 7, 11)))
    values.put(1, 1, 0)
    assert values.get(1, 0) == 1
