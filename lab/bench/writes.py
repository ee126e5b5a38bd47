"""Writes over HTTP while the whole product runs: how long they take and what they cost.

The graph is that of the demo community, or of a file. Authors and readers have live timelines.
"""

import itertools
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.sharding.buckets import shard_of
from lab.bench import world
from lab.bench.cpu import CpuReading
from lab.bench.crowds import measure_crowds
from lab.bench.draws import Zipf
from lab.bench.product import Product, running_product, wait_until_delivered
from lab.load.connection import get_request, post_request
from lab.load.loop import LoadRequest
from lab.load.mix import percentiles_ms, run_mix
from lab.load.paced import PacedResult, run_paced

AUTHORS, READERS, SEED = 48, 554, 1
WATCHED, AUTHORS_OF_WATCHED = 8, 6
RATES = {20: 8.0, 200: 5.0}  # seconds by writes a second
IDLE_S, HOT_S, HOT_RATE = 5.0, 5.0, 500
SLICES, SLICE_S, CONNECTIONS, BESIDE = 6, 2.0, 16, 20
HOME = "/api/v1/timelines/home?limit=40"
STATUSES = "/api/v1/statuses"


class Cast(NamedTuple):
    """Accounts by their task. `watched[n]` follows six authors, and only it follows them all."""

    ids: Sequence[int]
    authors: Sequence[int]
    readers: Sequence[int]
    watched: Sequence[int]
    tokens: dict[int, str]


def measure(path: Path | None = None) -> dict[str, Any]:
    cast = _make_cast(world.load_follow_graph(path))
    with running_product() as product:
        warm = _warm(product, cast)
        idle = _idle(product)
        return {
            "graph": {"accounts": len(cast.ids), "readers": warm},
            "idle_cpu": {part: round(rate, 4) for part, rate in idle.items()},
            "posts": {f"{n}_per_s": _cost(product, _posts(cast), n, idle) for n in RATES},
            "visible": {f"{n}_per_s": _visible(product, cast, n) for n in RATES},
            "follows": {f"{n}_per_s": _cost(product, _follows(cast), n, idle) for n in RATES},
            "hot_followee": _follow_one(product, cast),
            "pages": _pages(product, cast),
            **measure_crowds(product, idle),
        }


def _make_cast(graph: world.FollowGraph) -> Cast:
    """The authors are followed in the graph, and six each by one watched reader more."""
    dice = random.Random(SEED)
    followed = sorted({followee for each in graph.following.values() for followee in each})
    authors = dice.sample(followed, AUTHORS)
    others = sorted(set(graph.following) - set(authors))
    readers = dice.sample(others, min(READERS, len(others)))
    watched = world.make_accounts(WATCHED)
    for number, reader in enumerate(watched):
        for author in authors[number * AUTHORS_OF_WATCHED :][:AUTHORS_OF_WATCHED]:
            world.follow(reader, author)
    world.drain_all()
    tokens = {account: world.make_token(account) for account in [*authors, *readers, *watched]}
    return Cast(graph.ids, authors, readers, watched, tokens)


def _warm(product: Product, cast: Cast) -> int:
    """Makes the readers' timelines live and the code warm. Returns how many readers there are."""
    everyone = [*cast.readers, *cast.watched]
    homes = itertools.cycle(
        LoadRequest(get_request(HOME, cast.tokens[reader])) for reader in everyone
    )
    run_paced(product.address, homes, 200, len(everyone) / 200)
    run_paced(product.address, _posts(cast), 50, 2)
    run_paced(product.address, homes, 200, len(everyone) / 200)
    wait_until_delivered()
    return len(everyone)


def _idle(product: Product) -> dict[str, float]:
    before = CpuReading.of(product.parts)
    time.sleep(IDLE_S)
    return CpuReading.of(product.parts).rates_since(before)


def _cost(
    product: Product, writes: Iterator[LoadRequest], rate: int, idle: dict[str, float]
) -> dict[str, Any]:
    """CPU of one write by part, until all changes are delivered, and the time to its answer."""
    before = CpuReading.of(product.parts)
    result = run_paced(product.address, writes, rate, RATES[rate])
    wait_until_delivered()
    after = CpuReading.of(product.parts)
    return {
        "cpu_ms": after.per_operation_ms(before, idle, len(result.ack_s)),
        "ack_ms": percentiles_ms(result.ack_s),
        "done": _done(result),
    }


def _visible(product: Product, cast: Cast, rate: int) -> dict[str, Any]:
    """From the answer until a follower's page has the post. The follower reads every 2 ms."""
    pages = [get_request(HOME, cast.tokens[reader]) for reader in cast.watched]
    result = run_paced(product.address, _posts(cast), rate, RATES[rate], pages)
    wait_until_delivered()
    return {"visible_ms": percentiles_ms(result.visible_s), "done": _done(result)}


def _done(result: PacedResult) -> dict[str, float]:
    return {"per_s": round(result.rate, 1), "refused": result.refused, "unseen": result.unseen}


def _posts(cast: Cast) -> Iterator[LoadRequest]:
    for number in itertools.count():
        place = number % AUTHORS
        body = {"status": f"{world.TEXT}{number}"}
        request = post_request(STATUSES, cast.tokens[cast.authors[place]], body)
        yield LoadRequest(request, seen_by=place // AUTHORS_OF_WATCHED)


def _follows(cast: Cast) -> Iterator[LoadRequest]:
    """Random pairs. Almost all of them are new."""
    dice = random.Random(time.time())
    while True:
        follower, followee = dice.choice(cast.readers), dice.choice(cast.ids)
        if follower != followee:
            yield _follow(cast, follower, followee)


def _follow(cast: Cast, follower: int, followee: int, act: str = "follow") -> LoadRequest:
    return LoadRequest(
        post_request(f"/api/v1/accounts/{followee}/{act}", cast.tokens[follower], {})
    )


def _follow_one(product: Product, cast: Cast) -> dict[str, Any]:
    """Writes to one account's count row while many accounts follow and unfollow it."""
    (star,) = world.make_accounts(1)
    acts = itertools.cycle(
        _follow(cast, reader, star, act)
        for act in ("follow", "unfollow")
        for reader in cast.readers
    )
    started = time.monotonic()
    result = run_paced(product.address, acts, HOT_RATE, HOT_S)
    wait_until_delivered()
    counts = read_counts(shard_of(star), [star], [CounterKind.FOLLOWERS])
    writes = counts[star][CounterKind.FOLLOWERS].version
    return {
        "follows_per_s": round(result.rate),
        "count_row_writes_per_s": round(writes / (time.monotonic() - started), 2),
    }


def _pages(product: Product, cast: Cast) -> dict[str, Any]:
    """Pages a second without and with posts, in turn. The readers are drawn by Zipf."""
    homes = {
        reader: get_request("/api/v1/timelines/home", cast.tokens[reader])
        for reader in cast.readers
    }
    readers = Zipf(cast.readers, 1.0, random.Random(SEED))

    def pages_per_s() -> float:
        pages = run_mix(
            product.address, lambda: ("page", homes[readers.draw()]), CONNECTIONS, SLICE_S
        )
        return len(pages.latencies["page"]) / pages.elapsed_s

    pages_per_s()
    slices = [(pages_per_s(), _beside_posts(product, cast, pages_per_s)) for _ in range(SLICES)]
    alone, beside = zip(*slices, strict=True)
    return {
        "alone_per_s": round(statistics.median(alone)),
        "beside_posts_per_s": round(statistics.median(beside)),
        "share": round(statistics.median(b / a for a, b in slices), 2),
    }


def _beside_posts(product: Product, cast: Cast, work: Callable[[], float]) -> float:
    posting = threading.Thread(
        target=run_paced, args=(product.address, _posts(cast), BESIDE, SLICE_S)
    )
    posting.start()
    try:
        return work()
    finally:
        posting.join()
        wait_until_delivered()
