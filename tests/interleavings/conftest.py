"""The threads of the actors."""

from collections.abc import Iterator

import pytest

from tests.interleavings.scheduler import Threads
from tests.interleavings.yield_points import yield_points

# Two of them may be threads of the breaker.
MOST_ACTORS = 6


@pytest.fixture
def threads(world: None) -> Iterator[Threads]:
    """Threads for actors, with all yield points on."""
    with yield_points():
        threads = Threads(MOST_ACTORS)
        yield threads
        threads.close()
