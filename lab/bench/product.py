"""The product as `make run` starts it, on the services of the benchmark."""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from infra.changes.sql import SELECT_PENDING
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_one
from lab.bench.cpu import Parts, find_servers
from lab.runner.child import Child
from lab.runner.installation import usual_installation
from lab.runner.port import HOST, free_port

_QUIET_S = 60
_POLL_S = 0.05
IS_PENDING = f"SELECT EXISTS ({SELECT_PENDING})"


class Product(NamedTuple):
    """`parts`: the process of each part at the root of its process tree, by name."""

    address: tuple[str, int]
    parts: Parts


@contextmanager
def running_product(
    *left_out: str, environment: Mapping[str, str] | None = None
) -> Iterator[Product]:
    """Web, worker and compensator, without those `left_out`. Raises ChildDidNotStart."""
    with tempfile.TemporaryDirectory() as logs:
        own = os.environ | (environment or {})
        product = usual_installation(own, Path(logs), free_port())
        kept = {
            name: process for name, process in product.processes.items() if name not in left_out
        }
        product = replace(product, processes=kept)
        with product.running("/health/live"):
            roots = {name: {child.pid} for name, child in product.processes.items()}
            yield Product((HOST, product.port), roots | find_servers())


@contextmanager
def delivering(*names: str, environment: Mapping[str, str] | None = None) -> Iterator[list[Child]]:
    """These processes of the product, without a web server."""
    with tempfile.TemporaryDirectory() as logs:
        own = os.environ | (environment or {})
        product = usual_installation(own, Path(logs), free_port())
        children = [product.processes[name] for name in names]
        try:
            for child in children:
                child.begin()
            yield children
        finally:
            product.stop(names)


def wait_until_delivered() -> None:
    """Returns when no change is pending on any database. Raises TimeoutError."""
    deadline = time.monotonic() + _QUIET_S
    while any(fetch_one(alias, IS_PENDING) == (True,) for alias in all_aliases()):
        if time.monotonic() > deadline:
            raise TimeoutError("changes are still pending")
        time.sleep(_POLL_S)
