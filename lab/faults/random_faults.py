"""Faults that a soak draws at random. Each is a block: broken inside, healed at its end."""

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from lab.faults.cluster.cluster import COMPENSATOR, PROCESSES, Cluster
from lab.faults.nemesis import Nemesis

# The other web and drainer live as long as the soak: only a long life shows a slow leak.
KILLED = ("web0", "drainer0", COMPENSATOR)
RandomFault = Callable[[Cluster, random.Random], AbstractContextManager[str]]


def draw_fault(cluster: Cluster, rng: random.Random) -> AbstractContextManager[str]:
    """The block gets the name of the fault, with what it was drawn for.

    A fault draws from a generator of its own: some draw as often as there are keys in Redis, and
    the next faults must not depend on that.
    """
    return rng.choice(_FAULTS)(cluster, random.Random(rng.getrandbits(64)))


@contextmanager
def _hung_store(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    store = rng.choice(sorted(cluster.stores))
    cluster.pause_store(store)
    try:
        yield f"{store} hangs"
    finally:
        cluster.revive_store(store)


@contextmanager
def _killed_store(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    store = rng.choice(sorted(cluster.stores))
    cluster.kill_store(store)
    try:
        yield f"{store} is killed"
    finally:
        cluster.revive_store(store)


@contextmanager
def _killed_process(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    process = cluster.processes[rng.choice(KILLED)]
    process.kill()
    try:
        yield f"{process.name} is killed"
    finally:
        process.begin()


@contextmanager
def _hung_process(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    process = cluster.processes[rng.choice(PROCESSES)]
    process.pause()
    try:
        yield f"{process.name} hangs"
    finally:
        process.resume()


@contextmanager
def _bad_link(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    match = f"{rng.choice([*PROCESSES, '*'])}:{rng.choice(sorted(cluster.stores))}"
    way = rng.choice(("stall", "cut", "delay"))
    if way == "stall":
        cluster.links.stall(match)
    elif way == "cut":
        cluster.links.cut(match)
    else:
        cluster.links.open(match, delay_s=0.05)
    try:
        yield f"link {match}: {way}"
    finally:
        cluster.links.open(match)


@contextmanager
def _flush(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    Nemesis(cluster).flush()
    yield "FLUSHALL"


@contextmanager
def _eviction(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    yield f"{Nemesis(cluster).evict_keys(rng, 0.3)} keys are evicted"


@contextmanager
def _ended_sessions(cluster: Cluster, rng: random.Random) -> Iterator[str]:
    store = rng.choice(sorted(cluster.services.postgres))
    yield f"{Nemesis(cluster).terminate_sessions(store)} sessions of {store} end"


_FAULTS: list[RandomFault] = [
    _hung_store,
    _killed_store,
    _killed_process,
    _hung_process,
    _bad_link,
    _flush,
    _eviction,
    _ended_sessions,
]
