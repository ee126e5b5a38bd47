"""A process that reads campaigns when a test says so, not when time has passed."""

from collections.abc import Iterator

import pytest

from timelines.promotions import running


@pytest.fixture(autouse=True)
def no_turns(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(running, "REFRESH_S", 3_600)
    yield
    running.running.stop()
