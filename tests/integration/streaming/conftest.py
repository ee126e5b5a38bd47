"""A streaming site on the clean world of each test."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def site(world: None) -> Iterator[Any]:
    from tests.delivered import deliver_all  # noqa: PLC0415 - has models
    from tests.integration.streaming.listening import streaming_site  # noqa: PLC0415

    deliver_all()
    with streaming_site() as site:
        yield site
