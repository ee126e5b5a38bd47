"""Entries that cannot be read, in every family of Redis: misses that heal, and never an error.

Every key of a family is spoiled in turn, and all pages are read over HTTP.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pytest_django import Settings

from infra.caching.client import redis
from infra.caching.decoding import UNDECODABLE, decode
from tests.integration.caching.town import Town, families
from tests.integration.jobs.outcomes import Outcome
from tests.world import drain_all, forget_memory
from timelines.management.commands.rebuild_timelines import Command as RebuildTimelines
from timelines.stores.factory import timeline_store

pytestmark = pytest.mark.slow

# What these families hold is not a copy: their answers may change when they are lost.
COUNTED = ("caching.quota", "caching.hot", "timelines.promotions")
GARBAGE: Mapping[str, Callable[[bytes], list[tuple[Any, ...]]]] = {
    "random": lambda key: [("SET", key, random.Random(1).randbytes(33))],
    "long": lambda key: [("SET", key, random.Random(2).randbytes(60))],
    "text": lambda key: [("SET", key, b"zz:1:x")],
    "empty": lambda key: [("SET", key, b"")],
    "list": lambda key: [("RPUSH", key, b"x")],
    "hash": lambda key: [("HSET", key, b"!", b"x", b"1", b"x", b"build", b"x")],
    "sorted set": lambda key: [("ZADD", key, -2, b"whole", 1, b"x")],
}


def spoil(keys: list[bytes], how: str) -> None:
    redis().run([("DEL", key) for key in keys])
    redis().run([command for key in keys for command in GARBAGE[how](key)])


@pytest.mark.parametrize("store", ["packed", "zset"])
@pytest.mark.parametrize("how", GARBAGE)
def test_spoiled_entries_are_misses(world: None, settings: Settings, store: str, how: str) -> None:
    settings.TIMELINE_STORE = store
    timeline_store.cache_clear()
    try:
        town = Town()
        right = town.read()
        for family, keys in sorted(families().items()):
            if store != "packed" and not family.startswith("timelines"):
                continue  # it does not depend on the store
            spoil(keys, how)
            for memory in ("with memory", "without memory"):
                assert town.read() == right, (family, memory)
                forget_memory()
            drain_all()
        redis().call("FLUSHDB")
        assert town.read() == right, "the comparison needs stable answers"
    finally:
        timeline_store.cache_clear()


def test_a_job_over_all_timelines_skips_one_that_cannot_be_read(world: None) -> None:
    town = Town()
    spoil(families()["timelines.home"], "long")
    assert Outcome(RebuildTimelines(), "--all").code == 0
    assert town.read()


def test_an_undecodable_entry_is_counted() -> None:
    before = UNDECODABLE.labels("tests.any")._value.get()
    assert decode("tests.any:v1", int, b"x") is None
    assert decode("tests.any:v1", int, None) is None
    assert decode("tests.any:v1", int, b"7") == 7
    assert UNDECODABLE.labels("tests.any")._value.get() == before + 1


def test_a_command_on_a_key_of_another_type_is_a_miss_and_heals(cache: Any) -> None:
    cache.call("RPUSH", "tests.typed:v1:{1}", "x")
    assert cache.run([("SET", "a", 1), ("HGET", "tests.typed:v1:{1}", "f")]) == [b"OK", None]
    assert cache.call("EXISTS", "tests.typed:v1:{1}") == 0
