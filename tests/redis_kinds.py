"""Tests that run on one Redis server, on a Redis Cluster, or on both.

`@pytest.mark.redis("single", "cluster")` runs a test in each `world`. Without the mark it is the
one server of the session.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from pytest_django import Settings

from infra.caching.client import forget_client, redis
from infra.caching.scripts import scripts_by_sha
from lab.runner.redis_cluster import PortRedis, redis_cluster


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("redis")
    if mark is not None:
        metafunc.parametrize("redis_kind", mark.args, indirect=True)


@pytest.fixture(scope="session")
def redis_nodes() -> Iterator[Sequence[PortRedis]]:
    """The nodes of the cluster of a session."""
    with redis_cluster() as nodes:
        yield nodes


@pytest.fixture
def redis_kind(request: pytest.FixtureRequest, settings: Settings) -> Iterator[str]:
    """Which Redis this process uses."""
    kind = getattr(request, "param", "single")
    if kind == "single":
        yield kind
        return
    with _using(request.getfixturevalue("redis_nodes"), settings):
        yield kind


@contextmanager
def _using(nodes: Sequence[PortRedis], settings: Settings) -> Iterator[None]:
    before = settings.REDIS_URL
    settings.REDIS_CLUSTER, settings.REDIS_URL = True, nodes[0].url
    forget_client()
    # Else whichever test is the first to run one counts a trip too many.
    for node in nodes:
        for script in scripts_by_sha.values():
            node.say("SCRIPT", "LOAD", script.body)
    try:
        yield
    finally:
        settings.REDIS_CLUSTER, settings.REDIS_URL = False, before
        forget_client()
        redis().call("FLUSHDB")  # Django's cache stays on the one server
