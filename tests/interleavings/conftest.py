"""The threads of the actors."""

from collections.abc import Iterator
from typing import Any

import pytest

# Two of them may be threads of the breaker.
MOST_ACTORS = 6


@pytest.fixture(scope="module")
def second_process_ended(databases: None) -> Iterator[None]:
    """The other process does not outlive the module's tests."""
    from tests.interleavings.second_process import (  # noqa: PLC0415 - configured late
        ending_second_process,
    )

    with ending_second_process():
        yield


@pytest.fixture
def threads(world: None, second_process_ended: None) -> Iterator[Any]:
    """Threads for actors, with all yield points on."""
    from tests.interleavings.scheduler import Threads  # noqa: PLC0415 - configured late
    from tests.interleavings.yield_points import yield_points  # noqa: PLC0415 - configured late

    with yield_points():
        threads = Threads(MOST_ACTORS)
        yield threads
        threads.close()
