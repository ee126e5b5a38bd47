"""Two people on different shards, who act in one process and read in another."""

from contextlib import ExitStack
from functools import cache

import pytest


@pytest.fixture(scope="module")
def other_processes(databases):
    """By the kind of Redis: answers API requests in a process of its own."""
    from tests.api_process import ApiProcess  # noqa: PLC0415 - needs the settings

    with ExitStack() as stack:
        yield cache(lambda _: stack.enter_context(ApiProcess()))


@pytest.fixture
def other_process(other_processes, redis_kind):
    return other_processes(redis_kind)


@pytest.fixture(params=["same", "other"])
def pair(request, world):
    """An account that acts, and one on another shard. `other`: the account acts elsewhere."""
    from tests.integration.own_writes.acting import RemoteCaller, make_pair  # noqa: PLC0415

    if request.param == "same":
        return make_pair()
    process = request.getfixturevalue("other_process")
    actor, other = make_pair()
    return RemoteCaller.acting_for(actor, process), other
