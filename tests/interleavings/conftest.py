"""The threads of the actors."""

from collections.abc import Iterator

import pytest

from tests.interleavings.scheduler import Threads
from tests.interleavings.second_process import ending_second_process
from tests.interleavings.yield_points import yield_points

# Two of them may be threads of the breaker.
MOST_ACTORS = 6


@pytest.fixture(scope="module")
def second_process_ended(databases: None) -> Iterator[None]:
    """The other process does not outlive the module's tests."""
    with ending_second_process():
        yield


@pytest.fixture
def threads(world: None, second_process_ended: None) -> Iterator[Threads]:
    """Threads for actors, with all yield points on."""
    with yield_points():
        threads = Threads(MOST_ACTORS)
        yield threads
        threads.close()
