"""Redis dies or is cut off under a web server at 15 requests a second: none fails.

That it hangs is experiment F5 of `make faults`.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import pytest

from lab.faults.cluster.links import linked
from tests.faults.hung_world import (
    SHARDS,
    HungWorld,
    environment_of,
    running_web,
    warm_up,
)
from tests.paced_requests import Ask, percentile
from tests.server_faults import kill

# A page that is made from tables costs 25 ms on two slow cores, which the databases use as well.
PER_S, LASTING_S = 15, 2.0
# Of the promise. The first request of each thread waits for REDIS_TIMEOUT_MS, the others do not.
SLOWEST_S = 0.4
# What a crowded machine may add. A process that asked Redis for each page would need far longer:
# every page asks several times, and four threads cannot answer 15 requests a second then.
CROWDED_S = 2.0
LIMITS = {"REDIS_TIMEOUT_MS": "250", "DATABASE_ANSWER_MS": "20000"}


class Fault(NamedTuple):
    """`environment`: of processes that shall notice it."""

    environment: dict[str, str]
    begin: Callable[[], object]
    end: Callable[[], object]


@contextmanager
def killed(services):
    server = services.redis
    yield Fault(services.environment(), partial(kill, server), server.start)


@contextmanager
def swallowed(services):
    """No byte arrives, in either direction."""
    url = services.environment()["REDIS_URL"]
    with linked({"redis": url}) as links:
        environment = services.environment() | {"REDIS_URL": links.url("redis", url)}
        yield Fault(environment, partial(links.stall, "redis"), links.reset)


def reads_and_writes(world):
    """Ten reads of warm pages for each write."""
    posts = [
        Ask("post", world.tokens[one], "/api/v1/statuses", "POST", {"status": "new"})
        for one in SHARDS
    ]
    return [*world.homes() * 10, *posts]


@pytest.mark.parametrize("kind", [killed, swallowed])
def test_no_request_fails_and_few_wait(services, tmp_path, kind):
    world = HungWorld()
    asks = reads_and_writes(world)
    with (
        kind(services) as fault,
        running_web(environment_of(fault.environment | LIMITS), tmp_path / "web.log") as clients,
    ):
        warm_up(clients, asks, 2)
        fault.begin()
        try:
            answers = clients.paced(asks, PER_S, LASTING_S)
        finally:
            fault.end()
        after = clients.paced(asks, PER_S, LASTING_S / 4)
    assert {one.status for one in answers} == {200}
    assert percentile(answers, 0.99) < SLOWEST_S + CROWDED_S
    assert {one.status for one in after} == {200}
