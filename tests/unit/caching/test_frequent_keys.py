"""Counts of what is read most: bounded, never over, short by a bounded part."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from infra.caching.frequent_keys import MOST_COUNTED, FrequentKeys

BATCH = 40


def test_counts_are_taken_from_a_floor_on_and_begin_anew():
    counts = FrequentKeys()
    counts.add([1, 2, 1])
    counts.add((1,))
    assert counts.take(2) == {1: 3}
    assert counts.take(1) == {}


def test_memory_is_bounded_with_a_million_keys_and_the_hot_one_is_found():
    counts, most = FrequentKeys(), 0
    for start in range(0, 1_000_000, BATCH):
        counts.add(range(start, start + BATCH))
        counts.add((-1,))
        most = max(most, len(counts))
    assert most <= MOST_COUNTED + BATCH
    [(key, count)] = counts.take(10_000).items()
    reads_of_it, reads = 25_000, 1_025_000
    assert key == -1
    assert reads_of_it - 2 * reads / MOST_COUNTED <= count <= reads_of_it


@given(st.lists(st.lists(st.integers(0, 12), max_size=6), max_size=30), st.integers(1, 6))
def test_short_by_a_bounded_part_and_never_over(batches, most):
    counts, truth = FrequentKeys(most), Counter()
    for batch in batches:
        counts.add(batch)
        truth.update(batch)
    counted = counts.take(1)
    for key, reads in truth.items():
        assert reads - 2 * truth.total() / most <= counted.get(key, 0) <= reads


def test_key_that_comes_steadily_is_not_kept_out_by_what_was_read_before():
    counts, new = FrequentKeys(most=3), iter(range(1, 1_000))
    counts.add([-1] * 1_000)
    for _ in range(100):
        counts.add([-2] * 100 + [next(new), next(new)])
    reads = 1_000 + 100 * 102
    assert counts.take(1)[-2] >= 10_000 - 2 * reads / 3


class Key:
    """Does something between one key and the next, as another thread might."""

    meanwhile = staticmethod(lambda: None)

    def __hash__(self):
        self.meanwhile()
        return id(self)


def test_taking_goes_on_while_another_thread_still_adds(monkeypatch):
    counts = FrequentKeys()
    counts.add([Key(), Key()])
    # What a thread that is in the middle of `add` has in its hands.
    held, numbers = counts._counts, iter(range(100))
    monkeypatch.setattr(Key, "meanwhile", lambda key: held.update({next(numbers): 1}))
    assert len(counts.take(1)) == 2
