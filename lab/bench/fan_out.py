"""The time from the answer to a post until its followers see it.

Once with steady posts, and once while a big author's post is pushed.
"""

import statistics
import threading
import time
from collections.abc import Sequence
from typing import Any

from infra.api.pages import Window
from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from lab.bench import world
from lab.bench.product import delivering
from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.types import Draft
from relations.actions.follow import follow
from relations.sql import INSERT_FOLLOWERS
from tests.world import find_live
from timelines.home.page import home_page
from timelines.stores.factory import timeline_store
from timelines.stores.packed import FAMILY
from timelines.types import Entry, LiveTimeline

POSTS, POSTS_A_SECOND = 120, 20
CROWD, FIRST_READER = 20_000, 2_000_000
IDLE_PAGES = 500
GIVE_UP_S = 120
HEAD_BYTES = 20


def measure() -> dict[str, Any]:
    """With one worker of four threads, as in `make run`."""
    reader = world.make_reader(followees=20, posts_each=5).account_id
    star, author, friend = world.make_accounts(3)
    follow(friend, author)
    world.drain_all()
    _make_live([friend])
    crowd = _write_crowd(star)
    with delivering("worker"):
        _visible_after_ms(author, friend)  # waits until the worker runs
        steady = [_paced(author, friend) for _ in range(POSTS)]
        idle = [_page_ms(reader) for _ in range(IDLE_PAGES)]
        busy = _push_to_crowd(star, crowd, reader, author, friend)
    return {
        "steady_lag_ms": _summary(steady),
        "page_ms_idle": _summary(idle),
        **busy,
    }


def _push_to_crowd(
    star: int, crowd: Sequence[int], reader: int, author: int, friend: int
) -> dict[str, Any]:
    """The big author posts. During the push, pages are read and a small author posts."""
    pages: list[float] = []
    small: list[float] = []
    started = time.perf_counter()
    create_post(star, Draft(world.TEXT))
    reading = threading.Thread(target=_read_while_pushed, args=(crowd[0], reader, pages))
    reading.start()
    while reading.is_alive():
        small.append(_visible_after_ms(author, friend))
    reading.join()
    last_s = time.perf_counter() - started
    lengths = redis().run([_length(follower) for follower in crowd])
    return {
        "crowd_reached": sum(length > HEAD_BYTES for length in lengths),
        "crowd_last_has_it_s": last_s,
        "page_ms_meanwhile": _summary(pages),
        "small_lag_ms_meanwhile": _summary(small),
    }


def _read_while_pushed(last: int, reader: int, pages: list[float]) -> None:
    while redis().call(*_length(last)) <= HEAD_BYTES:
        pages += [_page_ms(reader) for _ in range(10)]


def _length(reader: int) -> Command:
    return ("STRLEN", key(FAMILY, reader))


def _paced(author: int, friend: int) -> float:
    began = time.perf_counter()
    lag_ms = _visible_after_ms(author, friend)
    time.sleep(max(0.0, 1 / POSTS_A_SECOND - (time.perf_counter() - began)))
    return lag_ms


def _visible_after_ms(author: int, friend: int) -> float:
    post = create_post(author, Draft(world.TEXT))
    acked = time.perf_counter()
    while not _has(friend, post):
        if time.perf_counter() - acked > GIVE_UP_S:
            raise TimeoutError(f"{post.public} was not pushed")
        time.sleep(0.001)  # a client polls too; a push sends no signal
    return (time.perf_counter() - acked) * 1000


def _has(reader: int, post: PostId) -> bool:
    live = find_live(reader)
    return live is not None and Entry.of_post(post).packed in live.packed


def _page_ms(reader: int) -> float:
    started = time.perf_counter()
    home_page(reader, Window(20))
    return (time.perf_counter() - started) * 1000


def _write_crowd(star: int) -> list[int]:
    crowd = list(range(FIRST_READER, FIRST_READER + CROWD))
    execute(shard_of(star), INSERT_FOLLOWERS, (star, crowd))
    _make_live(crowd)
    return crowd


def _make_live(readers: Sequence[int]) -> None:
    for reader in readers:
        timeline_store().begin_build(reader, 1)
        timeline_store().finish_build(reader, 1, LiveTimeline.of([], 0, 0))


def _summary(values: Sequence[float]) -> dict[str, float]:
    p99 = statistics.quantiles(values, n=100)[98] if len(values) > 1 else values[0]
    return {"p50": round(statistics.median(values), 1), "p99": round(p99, 1)}
