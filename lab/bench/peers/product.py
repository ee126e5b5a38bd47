"""Tideline's side. It calls what the web and worker processes call."""

import gc
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.keys import key
from infra.changes.compensate import drain
from infra.changes.lag import list_lane_lags
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from lab.bench import world
from lab.bench.product import delivering
from lab.runner.programs import other_constants
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.types import Draft
from relations.actions.follow import follow, unfollow
from tests.world import find_live
from timelines.home.page import home_page
from timelines.stores.packed import FAMILY

GIVE_UP_S = 180
# The size of Stream-Framework's tasks. Larger chunks end before a kill can come.
PIECES = {"INLINE_FOLLOWERS": "100", **other_constants(CHUNK_FOLLOWERS=100)}
SAMPLE = 20  # checks one reader in 20 until the kill
_pushing = partial(delivering, "worker", "compensator", environment=PIECES)


class Tideline:
    """Answers the same calls as the contenders. Posts have their public ids."""

    def __init__(self, crowd: Sequence[int]) -> None:
        """`crowd`: the followers to watch while a worker is killed."""
        self._crowd = crowd

    def call(self, name: str, *arguments: Any) -> Any:
        return getattr(self, name)(*arguments)

    def time_reads(self, readers: Sequence[int], limit: int) -> list[float]:
        """µs of each reader's first page, as the JSON that is sent."""
        gc.collect()
        return [_time(lambda reader=reader: _page(reader, limit)) for reader in readers]

    def time_posts(self, how: str, author: int, texts: Sequence[str], second: float) -> list[float]:
        """µs until every follower's timeline has it: the write, and the drain of its lane."""
        return [
            _time(lambda text=text, n=n: self._post_and_drain(author, text, second + n))
            for n, text in enumerate(texts)
        ]

    def homes(self, readers: Sequence[int], limit: int) -> list[list[str]]:
        return [
            [orjson.loads(status)["id"] for status in _page(reader, limit)] for reader in readers
        ]

    def follow(self, readers: Sequence[int], author: int) -> None:
        for reader in readers:
            follow(reader, author)
        world.drain_all()

    def unfollow(self, readers: Sequence[int], author: int) -> None:
        for reader in readers:
            unfollow(reader, author)
        world.drain_all()

    def post(self, author: int, text: str, second: float) -> str:
        return self._post_and_drain(author, text, second).public

    def delete(self, post: str) -> None:
        delete_post(PostId.from_public(post))
        world.drain_all()

    def post_and_kill(self, author: int, text: str, second: float) -> dict[str, Any]:
        """Kills all pushing processes when some followers have the post, then starts them again."""
        before, sample = _lengths(self._crowd), self._crowd[::SAMPLE]
        with _pushing() as processes:
            post = create_post(author, Draft(text), clock_s=lambda: second)
            _wait_until(lambda: _lengths(sample) != before[::SAMPLE])
            for process in processes:
                process.kill()
            had = sum(now != then for now, then in zip(_lengths(self._crowd), before, strict=True))
        with _pushing():
            _wait_until(lambda: not _pending())
        return {"post": post.public, "had": had}

    def bytes_an_entry(self, readers: Sequence[int]) -> float:
        sizes = [
            redis().call("MEMORY", "USAGE", key(FAMILY, reader), "SAMPLES", 0) for reader in readers
        ]
        return sum(sizes) / sum(
            len(live.packed) for reader in readers if (live := find_live(reader))
        )

    def _post_and_drain(self, author: int, text: str, second: float) -> PostId:
        post = create_post(author, Draft(text), clock_s=lambda: second)
        drain(shard_of(author), lane_of(author))
        return post


def _page(reader: int, limit: int) -> Sequence[bytes]:
    return home_page(reader, Window(limit)).items


def _time(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1e6


def _lengths(readers: Sequence[int]) -> list[int]:
    return redis().run([("STRLEN", key(FAMILY, reader)) for reader in readers])


def _pending() -> int:
    return sum(lag.pending for alias in all_aliases() for lag in list_lane_lags(alias))


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the worker pushed nothing")
