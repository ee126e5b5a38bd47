"""Posts of authors with thousands of live followers, and what other requests notice of them."""

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from lab.bench import world
from lab.bench.cpu import CpuReading
from lab.bench.page_reader import TimedPage, page_reader
from lab.bench.page_reader import percentiles_ms as page_percentiles_ms
from lab.bench.product import Product, wait_until_delivered
from lab.load.connection import Connection, get_request, post_request
from lab.load.loop import LoadRequest
from lab.load.mix import percentiles_ms
from lab.load.paced import PacedResult, run_paced
from posts.ids import PostId
from relations.actions.follow import follow
from relations.sql import INSERT_FOLLOWERS
from timelines.stores.factory import timeline_store
from timelines.stores.packed import FAMILY
from timelines.types import Entry, LiveTimeline

SMALL, LARGE, FIRST_FOLLOWER = 5_000, 20_000, 2_000_000
POSTS_ALONE, POSTS_BESIDE, BESIDE_RATE = 6, 8, 20
IDLE_S, POLL_S, PROBE_EVERY, GIVE_UP_S = 3.0, 0.002, 1_000, 60


class Star:
    """An author whose followers all have live timelines, empty at first."""

    def __init__(self, product: Product, followers: Sequence[int]) -> None:
        (self.account_id,) = world.make_accounts(1)
        self._followers = followers
        self._token = world.make_token(self.account_id)
        self._connection = Connection(product.address)
        execute(shard_of(self.account_id), INSERT_FOLLOWERS, (self.account_id, list(followers)))
        make_live(followers)

    def post(self) -> float:
        """Posts; returns the seconds from the answer until the last follower has the post."""
        data = {"status": world.TEXT}
        self._connection.send(post_request("/api/v1/statuses", self._token, data))
        while not self._connection.receive():
            pass
        answered = time.perf_counter()
        post = PostId.from_public(orjson.loads(self._connection.body)["id"])
        packed = Entry.of_post(post).packed
        self._wait_for([*self._followers[::PROBE_EVERY], self._followers[-1]], packed)
        last_has_it = time.perf_counter()
        if self._wait_for(self._followers, packed):
            last_has_it = time.perf_counter()
        return last_has_it - answered

    def _wait_for(self, followers: Sequence[int], packed: bytes) -> bool:
        """Returns when all of these have the post: whether it had to wait."""
        deadline = time.perf_counter() + GIVE_UP_S
        commands = [("GETRANGE", key(FAMILY, follower), -len(packed), -1) for follower in followers]
        has_waited = False
        while any(tail != packed for tail in redis().run(commands)):
            if time.perf_counter() > deadline:
                raise TimeoutError("a post did not reach all followers")
            time.sleep(POLL_S)
            has_waited = True
        return has_waited


def make_live(readers: Sequence[int]) -> None:
    for reader in readers:
        timeline_store().begin_build(reader, 1)
        timeline_store().finish_build(reader, 1, LiveTimeline.of([], 0, 0))


def measure_crowds(product: Product, idle: Mapping[str, float]) -> dict[str, Any]:
    """`cpu_us`: CPU of a delivery by part, without the CPU of an idle product."""
    small = Star(product, range(FIRST_FOLLOWER, FIRST_FOLLOWER + SMALL))
    large = Star(product, range(FIRST_FOLLOWER, FIRST_FOLLOWER + LARGE))
    for star in (small, large):
        star.post()  # warm
    return {
        "5,000_followers": {"last_has_it_ms": percentiles_ms(_post(small))},
        "20,000_followers": _alone(product, large, idle) | _beside(product, large),
    }


def _post(star: Star) -> list[float]:
    return [star.post() for _ in range(POSTS_ALONE)]


def _alone(product: Product, star: Star, idle: Mapping[str, float]) -> dict[str, Any]:
    before = CpuReading.of(product.parts)
    seconds = _post(star)
    wait_until_delivered()
    after = CpuReading.of(product.parts)
    cpu_ms = after.per_operation_ms(before, idle, POSTS_ALONE)
    return {
        "last_has_it_ms": percentiles_ms(seconds),
        "deliveries": {"per_s": round(LARGE / statistics.median(seconds))},
        "cpu_us": {part: round(ms * 1000 / LARGE, 2) for part, ms in cpu_ms.items()},
    }


def _beside(product: Product, star: Star) -> dict[str, Any]:
    """Another author's posts and one reader's pages, while the star posts again and again."""
    reader = world.make_reader(followees=20, posts_each=5).account_id
    with page_reader(reader) as pages:
        idle = _timed(lambda: time.sleep(IDLE_S))
        pushing, small = _push_and_post(product, star)
    by_name = {"idle": _within(pages, *idle), "pushed": _within(pages, *pushing)}
    figures = {f"page_ms_{name}": page_percentiles_ms(some) for name, some in by_name.items()}
    ratio = figures["page_ms_pushed"]["p99"] / figures["page_ms_idle"]["p99"]
    return figures | {
        "page_p99": {"of_idle": round(ratio, 2)},
        "other_author_visible_ms": percentiles_ms(small.visible_s),
    }


def _push_and_post(product: Product, star: Star) -> tuple[tuple[float, float], PacedResult]:
    author, friend = world.make_accounts(2)
    follow(friend, author)
    wait_until_delivered()
    page = get_request("/api/v1/timelines/home?limit=40", world.make_token(friend))
    token = world.make_token(author)
    request = post_request("/api/v1/statuses", token, {"status": world.TEXT})
    posts = itertools.repeat(LoadRequest(request, seen_by=0))
    run_paced(product.address, posts, BESIDE_RATE, 0.2, [page])  # makes the timeline live
    done: list[tuple[float, float]] = []
    pushing = threading.Thread(
        target=lambda: done.append(_timed(lambda: [star.post() for _ in range(POSTS_BESIDE)]))
    )
    pushing.start()
    total = PacedResult()
    while pushing.is_alive():
        total.visible_s += run_paced(product.address, posts, BESIDE_RATE, 0.5, [page]).visible_s
    pushing.join()
    return done[0], total


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """The start and the end of the work, on the clock of `TimedPage`."""
    began = time.monotonic()
    work()
    return began, time.monotonic()


def _within(pages: Sequence[TimedPage], began: float, ended: float) -> list[TimedPage]:
    return [page for page in pages if began <= page.at_s < ended]
