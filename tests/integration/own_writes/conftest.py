"""Two people on different shards, who act in one process and read in another."""

import pytest


@pytest.fixture(scope="module")
def other_process(databases):
    """Answers API requests in a process of its own."""
    from tests.api_process import ApiProcess  # noqa: PLC0415 - needs the settings

    with ApiProcess() as process:
        yield process


@pytest.fixture(params=["same", "other"])
def pair(request, world):
    """An account that acts, and one on another shard. `other`: the account acts elsewhere."""
    from tests.integration.own_writes.acting import RemoteCaller, make_pair  # noqa: PLC0415

    if request.param == "same":
        return make_pair()
    process = request.getfixturevalue("other_process")
    actor, other = make_pair()
    return RemoteCaller.acting_for(actor, process), other
