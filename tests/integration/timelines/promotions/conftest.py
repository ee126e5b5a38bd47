"""A process that reads campaigns when a test says so, not when time has passed."""

from collections.abc import Iterator

import pytest

from timelines.promotions import campaigns


@pytest.fixture(autouse=True)
def no_refresh(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(campaigns, "REFRESH_S", 3_600)
    yield
    campaigns.running_campaigns.stop()
