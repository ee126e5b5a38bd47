"""Values that somebody else wrote into Redis: a pickle, JSON of another shape, half an entry.

Unlike spoiled entries they keep the type of their key, and their version or field names. No pickle
is ever read, and all pages answer as if the value were missing.

Entries that cannot be read, in every family of Redis: misses that heal, and never an error.

Every key of a family is spoiled in turn, and all pages are read over HTTP.
"""

import json
import os
import pickle
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from config.periodic import PERIODIC_TASKS
from infra.caching.client import Command, redis
from infra.caching.decoding import UNDECODABLE, decode
from infra.caching.lists import NEWEST, WHOLE
from infra.sharding.shards import all_aliases
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.verbs import RebuildRelationCaches
from tests.callers import next_link
from tests.integration.caching.town import Town, families
from tests.integration.jobs.outcomes import Outcome
from tests.integration.operations.staff import staff_of
from tests.integration.timelines.promotions.campaigns import run_campaign
from tests.periodic import run_task
from tests.world import drain_all, forget_memory
from timelines.stores.factory import timeline_store
from timelines.verbs import RebuildTimelines

pytestmark = pytest.mark.slow

Plant = Callable[[bytes], bytes]
# The version of an entry, and until when it is fresh.
VERSION = b"!"
HEAD = re.compile(rb"^(\d+:){0,2}")
SHAPES: list[Any] = [None, -7, [[1], [2]], {"a": [1, "x", None]}]
# Families that the pages and tasks of this test write, with those of other types than strings.
SEEN = {
    "accounts.profile", "accounts.token", "caching.viewer",
    "changes.lag", "counters.account", "django", "posts.counts", "posts.viewer_state", "posts.week",
    "relations.followers", "relations.following", "relations.quiet", "relations.relationship",
    "timelines.catch_up", "timelines.hot", "timelines.hot_entries", "timelines.increments",
    "timelines.polls", "timelines.promotions.day", "timelines.public",
}  # fmt: skip
LISTS = ("relations.followers", "relations.following", "relations.quiet")


class Bomb:
    """Creates a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.folder,)


def head_of(raw: bytes) -> bytes:
    found = HEAD.match(raw)
    return found[0] if found else b""


def after_head(payload: bytes) -> Plant:
    return lambda raw: head_of(raw) + payload


PLANTS: dict[str, Plant] = {
    # An odd number of bytes: a timeline that has lost whole entries would be a valid one.
    # And some bytes after the head of a short value: a head alone says that there is nothing.
    "half": lambda raw: raw[: max(len(raw) // 2 + 2 | 1, len(head_of(raw)) + 1)],
    "all but one byte": lambda raw: raw[:-1],
    **{f"JSON {shape}": after_head(json.dumps(shape).encode()) for shape in SHAPES},
}


class City(Town):
    """A town with a list, promotions, polls, a catch-up of two pages and staff."""

    def __init__(self) -> None:
        super().__init__()
        self.list_id = create_account_list(self.me, "close").list_id
        add_members(self.me, self.list_id, [self.friend])
        run_campaign()
        self.operator, self.moderator = staff_of("operator"), staff_of("moderator")
        self.second_page = next_link(self.caller.get("/api/v1/timelines/home/catch_up?limit=1"))

    def paths(self) -> list[str]:
        """The second page of the catch-up, too: its bound is fixed, so it is always the same."""
        return [*super().paths(), self.second_page]

    def others(self) -> list[str]:
        """Pages that are not the same each time."""
        old = f"?min_id={self.post.public}"
        return [
            f"/api/v1/timelines/list/{self.list_id}", f"/api/v1/timelines/home{old}",
            f"/api/v1/timelines/public{old}", f"/api/v1/timelines/home/news{old}",
            "/api/v1/timelines/home?all_promotions=true", "/metrics", "/api/schema",
        ]  # fmt: skip

    def statuses(self) -> set[int]:
        pages = ["", "operations/", "operations/now/", "operations/charts/", "hot_keys/"]
        pages += [f"find/account/{self.me}/home/", f"find/account/{self.star}/"]
        answers = [self.caller.get(path) for path in self.others()]
        answers += [self.operator.get(f"/admin/{page}") for page in pages]
        answers += [self.moderator.get("/admin/"), self.moderator.get("/admin/moderation/report/")]
        return {answer.status_code for answer in answers}


@pytest.fixture
def planted_in() -> str:
    return "packed"


@pytest.fixture
def city(world: None, settings: Settings, planted_in: str) -> Iterator[City]:
    settings.TIMELINE_STORE = planted_in
    timeline_store.cache_clear()
    yield City()
    timeline_store.cache_clear()


def plant_all(keys: Sequence[bytes], plant: Plant) -> None:
    """Replaces all values of these keys. The keys keep their types."""
    commands = [command for key in keys for command in replacements(key, plant)]
    if commands:
        redis().run(commands)


def replacements(key: bytes, plant: Plant) -> list[Command]:
    kind = redis().call("TYPE", key)
    if kind == b"string":
        return [("SET", key, plant(redis().call("GET", key)), "KEEPTTL")]
    if kind == b"hash":
        flat = redis().call("HGETALL", key)
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return [("HSET", key, f, plant(v)) for f, v in pairs if f != VERSION]
    if kind == b"zset":
        members = [m for m in redis().call("ZRANGE", key, 0, -1) if m not in (WHOLE, NEWEST)]
        planted = [("ZADD", key, redis().call("ZSCORE", key, m), plant(m)) for m in members]
        return [*(("ZREM", key, member) for member in members), *planted]
    if kind == b"stream":
        entries = redis().call("XRANGE", key, "-", "+")
        return [("XADD", key, "*", *map(plant, fields)) for _, fields in entries]
    members = redis().call(*(("LRANGE", key, 0, -1) if kind == b"list" else ("SMEMBERS", key)))
    add = "RPUSH" if kind == b"list" else "SADD"
    return [("DEL", key), *((add, key, plant(member)) for member in members)]


def assert_answers_are_right(city: City, plant: Plant) -> None:
    right = city.read()
    assert city.statuses() == {200}
    for task in PERIODIC_TASKS:
        run_task(task.name, all_aliases())
    found = families()
    assert found.keys() >= SEEN
    plant_all([key for keys in found.values() for key in keys], plant)
    forget_memory()
    assert city.read() == right
    assert city.statuses() == {200}
    drain_all()
    assert city.read() == right


# The other store in Redis keeps each entry by itself: a shorter one, or one that is none.
@pytest.mark.parametrize(
    ("planted_in", "name"),
    [*(("packed", name) for name in PLANTS), ("zset", "half"), ("zset", f"JSON {SHAPES[0]}")],
)
def test_values_of_another_shape_are_misses(city: City, name: str) -> None:
    assert_answers_are_right(city, PLANTS[name])


@pytest.mark.parametrize("is_late", [False, True], ids=["whole entry", "after its head"])
def test_no_pickle_is_read(city: City, is_late: bool, tmp_path: Path) -> None:
    pickled = pickle.dumps(Bomb(tmp_path / "read"))
    assert_answers_are_right(city, after_head(pickled) if is_late else lambda _: pickled)
    assert not (tmp_path / "read").exists()
    pickle.loads(pickled)
    assert (tmp_path / "read").exists(), "reading it does what it should not"


def test_jobs_replace_lists_that_cannot_be_read(world: None) -> None:
    town = Town()
    right = town.read()
    lists = [key for name, keys in families().items() if name in LISTS for key in keys]
    plant_all(lists, PLANTS["half"])
    outcome = Outcome(RebuildRelationCaches())
    assert outcome.code == 0
    assert all(name in outcome.out for name in LISTS[:2])
    assert town.read() == right


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
