"""The process reads campaigns when the test asks for it, not by time."""

from collections.abc import Iterator

import pytest

from timelines.promotions import campaigns


@pytest.fixture(autouse=True)
def no_refresh(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(campaigns, "REFRESH_S", 3_600)
    yield
    campaigns.running_campaigns.stop()
