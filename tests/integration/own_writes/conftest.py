"""Two people on different shards, who act in one process and read in another."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def other_process(databases):
    """Answers API requests in a process of its own. Its threads end with the module."""
    from django.conf import settings  # noqa: PLC0415 - configured late

    from tests.other_process import environment_of_this_test  # noqa: PLC0415

    with subprocess.Popen(
        [sys.executable, "-m", "tests.other_web"],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture(params=["same", "other"])
def pair(request, world, monkeypatch):
    """An account that acts, and one on another shard.

    `other`: the account acts in another process. This process does not receive invalidations, as
    if each of them came late, and its copies do not expire by age.
    """
    from tests.integration.own_writes.acting import RemoteCaller, make_pair  # noqa: PLC0415

    if request.param == "same":
        return make_pair()
    monkeypatch.setattr("infra.caching.listener.receive_invalidation", lambda message: None)
    process = request.getfixturevalue("other_process")
    actor, other = make_pair()
    return RemoteCaller.acting_for(actor, process), other
