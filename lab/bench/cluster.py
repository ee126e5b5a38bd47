"""Home pages on a Redis Cluster of three nodes, against the same pages on one server.

Two web servers take turns. Their readers and databases are the same, and all servers of Redis are
on TCP ports. Nothing is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from lab.bench.cpu import CpuReading
from lab.bench.first_reads.data import Stranger, load_strangers
from lab.bench.first_reads.measure import WARM_UP
from lab.bench.mix.requests import HOME
from lab.bench.product import Product, running_product
from lab.load.connection import get_request
from lab.load.mix import read_bodies
from lab.runner.redis_cluster import port_redis, redis_cluster

TICK_S = 0.01  # the kernel may count CPU time in these; reads that got none took less
MOST_READERS = 240
# A slice of first reads has so many readers; one of later reads has all, so many times.
SLICE_READERS, ROUNDS = 20, 4
SLICES = 15


def measure(accounts: int) -> dict[str, Any]:
    """By row: µs of CPU of the web process for one read, and `ratio`: cluster by single.

    `accounts`: a quarter of them read, 240 at most.
    """
    groups = load_strangers("cluster", ["warm_up", "readers"], min(accounts // 4, MOST_READERS))
    warm_up, readers = (_requests(group) for group in groups.values())
    with _running_redis() as environments:
        with _products(environments) as products:
            for product in products.values():
                read_bodies(product.address, readers + warm_up)
        # Another start: these processes know no reader, and Redis knows all.
        with _products(environments) as products:
            for product in products.values():
                read_bodies(product.address, warm_up[:WARM_UP] * 2)
            return {
                "home_first": _first(products, readers),
                "home_again": _again(products, readers),
            }


def _requests(readers: Sequence[Stranger]) -> list[bytes]:
    return [get_request(HOME, reader.token) for reader in readers]


@contextmanager
def _running_redis() -> Iterator[dict[str, dict[str, str]]]:
    """The settings of a product on each."""
    with port_redis() as single, redis_cluster() as nodes:
        yield {
            "single": {"REDIS_URL": single.url},
            "cluster": {"REDIS_URL": nodes[0].url, "REDIS_CLUSTER": "1"},
        }


@contextmanager
def _products(environments: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, Product]]:
    """Web servers only: workers would deliver changes to one Redis and not to the other."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                running_product("worker", "compensator", environment=environment)
            )
            for name, environment in environments.items()
        }


def _first(products: Mapping[str, Product], readers: Sequence[bytes]) -> dict[str, float]:
    """All slices count together: the kernel counts CPU in ticks as long as a slice."""
    starts = range(0, len(readers), SLICE_READERS)
    slices = [readers[start : start + SLICE_READERS] for start in starts]
    spent_s = dict.fromkeys(products, 0.0)
    for number, some in enumerate(slices):
        for name in _in_turn(products, number):
            spent_s[name] += _cpu_s(products[name], some)
    return _figures({name: max(s, TICK_S) / len(readers) * 1e6 for name, s in spent_s.items()})


def _again(products: Mapping[str, Product], readers: Sequence[bytes]) -> dict[str, float]:
    requests = [*readers] * ROUNDS
    slices: dict[str, list[float]] = {name: [] for name in products}
    for number in range(SLICES):
        for name in _in_turn(products, number):
            read_bodies(products[name].address, requests)  # both processes know all readers now
            spent_s = max(_cpu_s(products[name], requests), TICK_S)
            slices[name].append(spent_s / len(requests) * 1e6)
    return _figures({name: median(us) for name, us in slices.items()})


def _in_turn(products: Mapping[str, Product], number: int) -> Sequence[str]:
    """Each is first as often as the other."""
    return [*products] if number % 2 else [*reversed([*products])]


def _cpu_s(product: Product, requests: Sequence[bytes]) -> float:
    web = {"web": product.parts["web"]}
    before = CpuReading.of(web)
    read_bodies(product.address, requests)
    return CpuReading.of(web).used_s["web"] - before.used_s["web"]


def _figures(cpu_us: Mapping[str, float]) -> dict[str, float]:
    figures = {f"{name}_us": round(us) for name, us in cpu_us.items()}
    return figures | {"ratio": round(cpu_us["cluster"] / cpu_us["single"], 2)}
