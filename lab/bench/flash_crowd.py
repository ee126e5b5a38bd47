"""A flash crowd: one account gains followers quickly and then posts, and others read their homes.

Most of the followers are there from the start, as rows and live timelines. The last ones come over
HTTP, at a constant rate, and go on while the account posts. All requests are of one open loop, so
that the latencies of the others count from their turn.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from lab.bench import world
from lab.bench.crowds import FIRST_FOLLOWER, make_live
from lab.bench.first_reads.data import load_strangers
from lab.bench.mix.requests import HOME
from lab.bench.product import Product, running_product, wait_until_delivered
from lab.load.connection import get_request, post_request
from lab.load.loop import LoadRequest
from lab.load.mix import percentiles_ms, read_bodies
from lab.load.paced import PacedResult, run_paced
from relations.sql import INSERT_FOLLOWERS

CROWD, READERS, POSTS = 50_000, 100, 10
SHARES = {"p50": 0.5, "p99": 0.99}
_AT_ONCE = 5_000


def measure(per_s: float, seconds: float) -> dict[str, Any]:
    """`per_s`: reads of others, and as many follows. `seconds`: of each phase: only others; others
    and follows; others, follows and POSTS posts of the account."""
    others = [get_request(HOME, reader.token) for reader in _readers()]
    fans = world.make_accounts(round(2 * per_s * seconds))
    (star,) = world.make_accounts(1)
    _write_crowd(star, CROWD - len(fans))
    follows = iter([*_follows(star, fans)])  # tokens take time
    post = post_request("/api/v1/statuses", world.make_token(star), {"status": world.TEXT})
    with running_product() as product:
        read_bodies(product.address, others * 3)
        homes = (LoadRequest(request, "others") for request in itertools.cycle(others))
        idle = run_paced(product.address, homes, per_s, seconds)
        ramp = _paced(product, _mixed(homes, follows), per_s, seconds)
        every = round(2 * per_s * seconds / POSTS)
        posting = _paced(product, _with_posts(_mixed(homes, follows), post, every), per_s, seconds)
        wait_until_delivered()
    return _figures(per_s, seconds, {"idle": idle, "followed": ramp, "posting": posting})


def _readers() -> Sequence[Any]:
    return load_strangers("flash", ["readers"], READERS)["readers"]


def _write_crowd(star: int, count: int) -> None:
    for first in range(FIRST_FOLLOWER, FIRST_FOLLOWER + count, _AT_ONCE):
        readers = [*range(first, min(first + _AT_ONCE, FIRST_FOLLOWER + count))]
        execute(shard_of(star), INSERT_FOLLOWERS, (star, readers))
        make_live(readers)


def _follows(star: int, fans: Sequence[int]) -> Iterator[LoadRequest]:
    for token in world.make_tokens(fans).values():
        request = post_request(f"/api/v1/accounts/{star}/follow", token, {})
        yield LoadRequest(request, "follow")


def _mixed(homes: Iterator[LoadRequest], follows: Iterator[LoadRequest]) -> Iterator[LoadRequest]:
    while True:
        yield next(homes)
        yield next(follows)


def _with_posts(requests: Iterator[LoadRequest], post: bytes, every: int) -> Iterator[LoadRequest]:
    """A post takes the place of each so many."""
    for number, request in enumerate(requests):
        yield LoadRequest(post, "post") if number % every == every // 2 else request


def _paced(
    product: Product, requests: Iterator[LoadRequest], per_s: float, seconds: float
) -> PacedResult:
    return run_paced(product.address, requests, 2 * per_s, seconds)


def _figures(per_s: float, seconds: float, phases: dict[str, PacedResult]) -> dict[str, Any]:
    others = {
        name: percentiles_ms(phase.latencies_s["others"], SHARES) for name, phase in phases.items()
    }
    acts = {
        kind: percentiles_ms(phases["posting"].latencies_s[kind], SHARES)
        for kind in ("follow", "post")
    }
    idle_ms = others["idle"]["p99"]
    return {
        "crowd": {"followers": CROWD, "follows_per_s": per_s, "seconds": seconds, "posts": POSTS},
        "others_ms": others,
        "acts_ms": acts,
        "others_p99_of_idle": {
            name: round(others[name]["p99"] / idle_ms, 2) for name in ("followed", "posting")
        },
        "refused": {name: phase.refused for name, phase in phases.items()},
    }
