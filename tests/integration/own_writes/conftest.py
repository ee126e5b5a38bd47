"""Two people on different shards, who act in one process and read in another."""

import time

import pytest

from infra.caching.invalidation import receive_invalidation

LATE_S = 0.2


@pytest.fixture(scope="module")
def other_process(databases):
    """Answers API requests in a process of its own."""
    from tests.api_process import ApiProcess  # noqa: PLC0415 - needs the settings

    with ApiProcess() as process:
        yield process


def _receive_late(message):
    time.sleep(LATE_S)
    receive_invalidation(message)


@pytest.fixture(params=["same", "other", "late"])
def pair(request, world, monkeypatch):
    """An account that acts, and one on another shard.

    `other`: the account acts in another process. This process does not receive invalidations, and
    its copies do not expire by age. `late`: the same, but they arrive, LATE_S after the one before.
    """
    from tests.integration.own_writes.acting import RemoteCaller, make_pair  # noqa: PLC0415

    if request.param == "same":
        return make_pair()
    if request.param == "late":
        monkeypatch.setattr("infra.caching.listener.receive_invalidation", _receive_late)
    else:
        monkeypatch.setattr("infra.caching.listener.receive_invalidation", lambda message: None)
        # So nothing proves that they came.
        monkeypatch.setattr(
            "infra.caching.listener.InvalidationListener.has_all_since", lambda self, moment: False
        )
    process = request.getfixturevalue("other_process")
    actor, other = make_pair()
    return RemoteCaller.acting_for(actor, process), other
