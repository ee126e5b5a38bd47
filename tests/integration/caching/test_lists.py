"""Cached lists: whatever order puts and changes arrive in, what is cached is what was once true."""

import threading
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.caching.client import redis
from infra.caching.lists import (
    Item,
    ListCache,
    ListChange,
    ListVersionMarker,
    LoadedList,
    write_lists,
)
from infra.caching.questions import answer, ask_both
from tests.waiting import PATIENCE_S

SPEC = ListCache("tests.list:v1", ttl_s=60, max_items=4)
BIG = ListCache("tests.list:v1", ttl_s=60, max_items=1_000_000)


def member(number):
    return b"%06d" % number


def items(*pairs):
    return [Item(score, member(number)) for score, number in pairs]


def newest_first(pairs):
    return sorted(pairs, reverse=True)


def put(version, pairs, is_whole=True, spec=SPEC, tokens=None):
    """As a loader: `tokens` None: without any event between."""
    loaded = LoadedList(spec, version, items(*pairs), is_whole)
    tokens = tokens or spec.begin_load(1)
    return write_lists(1, tokens, [loaded])


def change(before, after, added=(), removed=(), spec=SPEC):
    news = ListChange(before, after, items(*added), [member(number) for number in removed])
    return redis().run([spec.change_command(1, news)])[0]


class Cached(NamedTuple):
    mark: ListVersionMarker | None
    items: list[Item]


def read(spec=SPEC):
    mark, found = answer(ask_both(spec.ask_version_marker(1), spec.ask_all(1)))
    assert (mark and mark.version) == (found and found.version)
    return Cached(mark, found.items if found else [])


def test_absent_and_empty_are_told_apart(cache):
    assert read() == (None, [])
    put(3, [])
    assert read() == (ListVersionMarker(3, True), [])


def test_order_is_by_score_then_member(cache):
    put(1, [(5, 2), (5, 10), (7, 1), (0, 3)])
    assert read().items == items((7, 1), (5, 10), (5, 2), (0, 3))


@pytest.mark.parametrize(("old", "new"), [(5, 4), (5, 5), (9, 10)])
def test_a_load_replaces_what_is_cached(cache, old, new):
    """Also by an older version: the shard may have been restored."""
    put(old, [(1, 1)])
    assert put(new, [(2, 2)])
    assert read() == (ListVersionMarker(new, True), items((2, 2)))


def test_next_version_changes_the_list_in_place(cache):
    put(1, [(1, 1), (2, 2)])
    assert change(1, 2, added=[(3, 3)], removed=[1]) == 1
    assert read() == (ListVersionMarker(2, True), items((3, 3), (2, 2)))


@pytest.mark.parametrize("again", [(1, 2), (0, 1)])
def test_change_that_is_in_already_does_nothing(cache, again):
    put(2, [(3, 3)])
    assert change(*again, removed=[3]) == 0
    assert read() == (ListVersionMarker(2, True), items((3, 3)))


def test_gap_drops_the_list(cache):
    put(1, [(1, 1)])
    assert change(2, 3, added=[(3, 3)]) == -1
    assert read() == (None, [])


def test_change_of_a_list_that_is_not_cached_leaves_nothing(cache):
    assert change(1, 2, added=[(3, 3)]) == 0
    assert cache.call("DBSIZE") == 0


def test_change_keeps_the_time_to_live(cache):
    put(1, [])
    before = cache.call("PTTL", SPEC.key(1))
    change(1, 2, added=[(1, 1)])
    assert 0 < cache.call("PTTL", SPEC.key(1)) <= before
    assert 53_000 < before <= 60_000


def test_change_during_a_slow_load_stays(cache):
    """The loader has read the list when it changes, and lays it after the change."""
    has_read, has_changed = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))
    landed = []

    def load_slowly():
        tokens = SPEC.begin_load(1)
        has_read.wait()
        has_changed.wait()
        landed.append(put(1, [(1, 1)], tokens=tokens))

    thread = threading.Thread(target=load_slowly)
    thread.start()
    has_read.wait()
    change(1, 2, removed=[1])
    has_changed.wait()
    thread.join()
    assert landed == [False]
    assert read().mark is None


def test_list_over_its_cap_is_cut_and_says_so(cache):
    put(1, [(1, 1), (2, 2), (3, 3), (4, 4)])
    change(1, 2, added=[(5, 5), (6, 6)])
    assert read() == (ListVersionMarker(2, False), items((6, 6), (5, 5), (4, 4), (3, 3)))


def test_what_belongs_below_the_cut_stays_out(cache):
    put(1, [(5, 5), (4, 4)], is_whole=False)
    assert change(1, 2, added=[(3, 3), (6, 6)]) == 1
    assert read() == (ListVersionMarker(2, False), items((6, 6), (5, 5), (4, 4)))


@pytest.mark.parametrize(("number", "kept"), [(3, False), (5, True)])
def test_tie_at_the_cut_is_decided_by_the_member(cache, number, kept):
    """Between the oldest kept and a lower member of the same score others may have been cut."""
    put(1, [(7, 7), (4, 4)], is_whole=False)
    change(1, 2, added=[(4, number)])
    assert (Item(4, member(number)) in read().items) is kept


def test_cut_list_that_lost_all_it_kept_is_dropped(cache):
    put(1, [(4, 4)], is_whole=False)
    assert change(1, 2, added=[(9, 9)], removed=[4]) == -1
    assert read() == (None, [])


def test_oldest_of_a_cut_list_that_moves_up_leaves_no_gap(cache):
    put(1, [(5, 5), (4, 4)], is_whole=False)
    change(1, 2, added=[(9, 4)])
    assert read() == (ListVersionMarker(2, False), items((9, 4), (5, 5)))


@pytest.mark.parametrize("is_whole", [True, False])
def test_more_members_than_lua_can_unpack(cache, is_whole):
    many = [(number, number) for number in range(1, 9_001)]
    put(1, many, is_whole, BIG)
    assert len(read(BIG).items) == 9_000
    more = [(number, number) for number in range(9_001, 18_001)]
    assert change(1, 2, added=more, removed=range(1, 8_999), spec=BIG) == 1
    kept = read(BIG)
    assert kept.mark == ListVersionMarker(2, is_whole)
    assert kept.items == items(*newest_first([*many[8_998:], *more]))


STEPS = st.sampled_from(["begin", "end", "tell", "flush"])


class History(NamedTuple):
    """Every version a list ever had, and the change that led to each."""

    versions: list[dict[int, int]]
    changes: list[tuple[dict[int, int], list[int]]]


@st.composite
def histories(draw):
    """Few members and fewer scores: ties and returns are common."""
    numbers = st.integers(1, 7)
    versions, changes = [draw(st.dictionaries(numbers, st.integers(0, 4), max_size=6))], []
    for _ in range(draw(st.integers(1, 6))):
        added = draw(st.dictionaries(numbers, st.integers(0, 4), max_size=2))
        removed = draw(st.lists(numbers, max_size=2))
        left = {n: s for n, s in versions[-1].items() if n not in removed}
        versions.append(left | added)
        changes.append((added, removed))
    return History(versions, changes)


def finish(history, version, tokens):
    """Ends a load that read this version."""
    pairs = newest_first((s, n) for n, s in history.versions[version].items())
    is_whole = len(pairs) <= SPEC.max_items
    put(version, pairs[: SPEC.max_items], is_whole, tokens=tokens)


def tell(history, version):
    added, removed = history.changes[version - 1]
    change(version - 1, version, [(s, n) for n, s in added.items()], removed)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories(), data=st.data())
def test_cached_list_is_always_one_that_was(cache, history, data):
    """Slow loads, changes twice and late, flushes: never a list that never was, or went back.

    A change reaches the cache after its commit, so a load reads that version or a newer one.
    """
    cache.call("FLUSHDB")
    last, told, loads = len(history.versions) - 1, 0, []
    for step in data.draw(
        st.lists(st.sampled_from(["begin", "end", "tell", "flush"]), max_size=12)
    ):
        if step == "begin":
            loads.append((SPEC.begin_load(1), data.draw(st.integers(told, last))))
        elif step == "end" and loads:
            tokens, version = loads.pop(data.draw(st.integers(0, len(loads) - 1)))
            finish(history, version, tokens)
        elif step == "tell" and told < last:
            told += 1
            tell(history, data.draw(st.integers(1, told)))
            tell(history, told)
        elif step == "flush":
            cache.call("FLUSHDB")
        mark, kept = read()
        if mark is not None:
            truth = newest_first((s, n) for n, s in history.versions[mark.version].items())
            assert kept == items(*truth[: len(kept)])
            assert len(kept) == len(truth) or not mark.is_whole
            assert mark.version >= told
