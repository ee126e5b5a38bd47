"""Entries that cannot be read, in every family of Redis: misses that heal, and never an error.

Every key of a family is spoiled in turn, and all pages are read over HTTP.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest
from pytest_django import Settings

from infra.caching.client import redis
from infra.caching.decoding import UNDECODABLE, decode
from infra.sharding.buckets import shard_of
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.types import Kind
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.jobs.outcomes import Outcome
from tests.world import drain_all, forget_memory, make_accounts, publish
from timelines.hot.actions.heat import heat_author
from timelines.management.commands.rebuild_timelines import Command as RebuildTimelines
from timelines.stores.factory import timeline_store

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


class Town:
    """I follow a friend and a star, whose posts are hot. The friend reposts the star's post."""

    def __init__(self) -> None:
        self.me, self.friend, self.star = make_accounts(3)
        follow(self.me, self.friend)
        follow(self.me, self.star)
        follow(self.friend, self.me)
        heat_author(shard_of(self.star), self.star)
        self.caller = Caller(self.me)
        self.caller.get("/api/v1/timelines/home")
        self.post, self.hot = publish(self.friend), publish(self.star)
        repost(self.friend, self.hot)
        mark_post(self.me, self.post, Kind.FAVOURITE, True)
        drain_all()

    def paths(self) -> list[str]:
        accounts = "/api/v1/accounts"
        return [
            "/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/favourites",
            f"{accounts}/verify_credentials", f"{accounts}/{self.friend}",
            f"{accounts}/{self.friend}/statuses", f"{accounts}/{self.me}/following",
            f"{accounts}/{self.friend}/following", f"{accounts}/{self.me}/followers",
            f"{accounts}/{self.star}/followers",
            f"{accounts}/relationships?id[]={self.friend}&id[]={self.star}",
            f"/api/v1/statuses/{self.post.public}", f"/api/v1/statuses/{self.post.public}/context",
            f"/api/v1/statuses/{self.hot.public}/reblogged_by", "/api/v1/instance",
        ]  # fmt: skip

    def read(self) -> dict[str, Any]:
        answers = {path: self.caller.get(path) for path in self.paths()}
        wrong = {p: a.status_code for p, a in answers.items() if a.status_code != 200}
        assert wrong == {}
        return {path: orjson.loads(answer.content) for path, answer in answers.items()}


def families() -> dict[str, list[bytes]]:
    """The keys in Redis, by family."""
    found: dict[str, list[bytes]] = {}
    for key in redis().call("KEYS", "*"):
        found.setdefault(key.partition(b":")[0].decode(), []).append(key)
    return found


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
