"""All caches of a process together take no more than PROCESS_CACHE_MB: their shares and entries.

How much memory Python objects take, with all that they refer to.
"""

import gc
import os
import re
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from accounts.queries import viewers
from infra.caching import remembered
from infra.caching.process_memory import most_entries, sizes_of_caches
from relations.actions.follow import follow
from tests.callers import Caller
from tests.world import drain_all, make_accounts, publish

# What all objects share.
_SHARED = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def deep_size(thing: object, counted: set[int]) -> int:
    """Bytes of the object and of what it refers to, without what was counted before."""
    size, left = 0, [thing]
    while left:
        one = left.pop()
        if id(one) in counted or isinstance(one, _SHARED):
            continue
        counted.add(id(one))
        size += sys.getsizeof(one)
        left.extend(gc.get_referents(one))
    return size


pytestmark = pytest.mark.slow

READERS, AUTHORS, POSTS_EACH = 12, 30, 6
TEXT = "A usual post is about as long as this one, it has two sentences, and there is no image. "
# Python makes room for more entries in a list or a table than there are.
ROOM = 1.3


# A cache, and how many entries it has. What it shares with one above is not counted again.
CACHES: dict[str, Callable[[], tuple[Any, int]]] = {
    "accounts.viewer": lambda: (viewers._viewers, len(viewers._viewers)),
}


@pytest.fixture
def busy(world: None) -> None:
    """Each reader follows all authors, and reads its home and their pages."""
    readers, authors = make_accounts(READERS), make_accounts(AUTHORS)
    for one in authors:
        for number in range(POSTS_EACH):
            post = publish(one, f"{TEXT}{number}")
    for reader in readers:
        for one in authors:
            follow(reader, one)
    drain_all()
    others = "accounts/relationships?" + "&".join(f"id[]={one}" for one in authors)
    pages = [f"accounts/{one}/statuses" for one in authors]
    callers = [Caller(reader) for reader in readers]
    _read(callers, pages)
    # At the end: on a crowded machine kept pages would end before they are measured.
    lists = [f"accounts/{one}/followers" for one in authors[:3]]
    _read(callers, [others, "timelines/home", f"statuses/{post.public}", *lists])


def _read(callers: Sequence[Caller], paths: Sequence[str]) -> None:
    """Twice: the first read finishes what the second one is made of."""
    for caller in callers:
        for path in [*paths, *paths]:
            assert caller.get(f"/api/v1/{path}").status_code == 200


def test_entries_are_not_larger_than_their_caches_say(busy: None) -> None:
    counted: set[int] = set()
    each = {}
    for name, find in CACHES.items():
        cache, count = find()
        assert count >= READERS, name
        each[name] = deep_size(cache, counted) / count
    said = sizes_of_caches()
    too_large = {
        name: (size, said[name].bytes_each)
        for name, size in each.items()
        if size > said[name].bytes_each * ROOM
    }
    assert too_large == {}


def test_answers_weigh_what_they_take(busy: None) -> None:
    """Within a fifth, by the kind of answer, so that many of a kind may fill the memory."""
    counted: set[int] = set()
    weights, sizes = Counter[str](), Counter[str]()
    answers = remembered._ROOM.answers._values
    for key in answers.keys():  # noqa: SIM118 - not a dict
        entry: Any = answers.peek(key)
        kind = re.sub(r"\d\w*", "…", f"{key[0]} {key[1][0]}")
        sizes[kind] += deep_size(key, counted) + deep_size(entry, counted)
        weights[kind] += entry[1].weight
    assert len(sizes) == 6
    wrong = {k: (weights[k], size) for k, size in sizes.items() if not is_near(weights[k], size)}
    assert wrong == {}


def is_near(weight: int, size: int) -> bool:
    return abs(weight - size) <= 0.2 * size


def test_the_caches_share_the_memory_of_a_process() -> None:
    """In a process that has loaded all of Tideline."""
    code = """
import web.wsgi
from infra.caching import remembered
from infra.caching.process_memory import sizes_of_caches
print(sum(one.share for one in sizes_of_caches().values()), *sizes_of_caches())
"""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    total, *names = subprocess.check_output(
        [sys.executable, "-c", code], env=environment, text=True
    ).split()
    assert 0.9 < float(total) <= 1
    assert {*CACHES} < {*names}


def test_more_memory_is_more_entries(settings: Any) -> None:
    size = sizes_of_caches()["infra.answers"]
    most = most_entries("infra.answers", *size)
    settings.PROCESS_CACHE_MB *= 2
    assert most_entries("infra.answers", *size) == pytest.approx(2 * most, abs=1)
