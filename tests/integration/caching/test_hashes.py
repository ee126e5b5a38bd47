"""Cached hashes: complete or absent, and never older than a change that was seen."""

import threading
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.caching.client import redis
from infra.caching.hashes import HashCache, HashChange
from infra.caching.load_tokens import begin_loads
from infra.caching.questions import answer
from tests.waiting import PATIENCE_S

SPEC = HashCache("tests.hash:v1", ttl_s=60)
FIELDS = ["a", "b", "c"]


def begin():
    return begin_loads(SPEC.family, [SPEC.key(1, 0)])


def put(version, fields, tokens=None):
    """As a loader: `tokens` None: without any event between."""
    return redis().run(SPEC.write_commands(1, 0, tokens or begin(), version, fields))[0]


def change(before, after, added=None, removed=()):
    news = HashChange(before, after, added or {}, removed)
    return redis().run([SPEC.change_command(1, 0, news)])[0]


def read(fields=FIELDS):
    found = answer(SPEC.ask(1, 0, fields))
    return None if found is None else dict(zip(fields, found, strict=True))


def test_absent_and_empty_are_told_apart(cache):
    assert read() is None
    put(1, {})
    assert read() == {"a": None, "b": None, "c": None}


def test_parts_of_an_owner_are_kept_apart(cache):
    put(1, {"a": b"1"})
    assert answer(SPEC.ask(1, 1, ["a"])) is None


def test_next_version_changes_it_in_place(cache):
    put(1, {"a": b"1", "b": b"2"})
    assert change(1, 2, {"c": b"3"}, ["a"]) == 1
    assert read() == {"a": None, "b": b"2", "c": b"3"}


def test_change_that_is_in_already_does_nothing(cache):
    put(2, {"a": b"1"})
    assert change(1, 2, removed=["a"]) == 0
    assert read(["a"]) == {"a": b"1"}


def test_gap_drops_it(cache):
    put(1, {"a": b"1"})
    assert change(2, 3, {"b": b"2"}) == -1
    assert read() is None


def test_times_to_live(cache):
    put(1, {"a": b"1"})
    before = cache.call("PTTL", SPEC.key(1, 0))
    assert 53_000 < before <= 60_000
    change(1, 2, {"b": b"2"})
    assert 0 < cache.call("PTTL", SPEC.key(1, 0)) <= before


def test_change_during_a_slow_load_stays(cache):
    has_read, has_changed = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))
    landed = []

    def load_slowly():
        tokens = begin()
        has_read.wait()
        has_changed.wait()
        landed.append(put(1, {"a": b"old"}, tokens))

    thread = threading.Thread(target=load_slowly)
    thread.start()
    has_read.wait()
    change(1, 2, {"a": b"new"})
    has_changed.wait()
    thread.join()
    assert landed == [0]
    assert read() is None


def test_more_fields_than_lua_can_unpack(cache):
    many = {str(number): b"x" for number in range(9_000)}
    put(1, many)
    more = {str(number): b"y" for number in range(9_000, 18_000)}
    assert change(1, 2, more, list(many)[:8_999]) == 1
    assert cache.call("HLEN", SPEC.key(1, 0)) == 9_002  # one left, 9,000 new, the version
    assert read(["8998", "8999", "17999"]) == {"8998": None, "8999": b"x", "17999": b"y"}


STEPS = st.sampled_from(["begin", "end", "tell", "flush"])


class History(NamedTuple):
    versions: list[dict[str, bytes]]
    changes: list[tuple[dict[str, bytes], list[str]]]


@st.composite
def histories(draw):
    hashes = st.dictionaries(st.sampled_from(FIELDS), st.sampled_from([b"1", b"2"]), max_size=3)
    versions, changes = [draw(hashes)], []
    for _ in range(draw(st.integers(1, 5))):
        added, removed = draw(hashes), draw(st.lists(st.sampled_from(FIELDS), max_size=2))
        left = {field: value for field, value in versions[-1].items() if field not in removed}
        versions.append(left | added)
        changes.append((added, removed))
    return History(versions, changes)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories(), data=st.data())
def test_cached_hash_is_always_one_that_was(cache, history, data):
    """Slow loads, changes twice and late, flushes: never one that never was, or went back."""
    cache.call("FLUSHDB")
    last, told, loads = len(history.versions) - 1, 0, []
    for step in data.draw(
        st.lists(st.sampled_from(["begin", "end", "tell", "flush"]), max_size=12)
    ):
        if step == "begin":
            loads.append((begin(), data.draw(st.integers(told, last))))
        elif step == "end" and loads:
            tokens, version = loads.pop(data.draw(st.integers(0, len(loads) - 1)))
            put(version, history.versions[version], tokens)
        elif step == "tell" and told < last:
            told += 1
            for version in (data.draw(st.integers(1, told)), told):
                change(version - 1, version, *history.changes[version - 1])
        elif step == "flush":
            cache.call("FLUSHDB")
        found = read()
        if found is not None:
            at = int(cache.call("HGET", SPEC.key(1, 0), "!"))
            assert found == {field: history.versions[at].get(field) for field in FIELDS}
            assert at >= told
