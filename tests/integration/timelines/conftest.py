"""A world where fan-outs are cut small."""

import pytest
from pytest_django import Settings

from relations.queries import followers


@pytest.fixture
def small_pieces(world: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Chunks of ten, inline up to five, pages of four, three chunks a dispatch."""
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = 5, 10
    monkeypatch.setattr(followers, "FOLLOWERS_A_PAGE", 4)
    monkeypatch.setattr("timelines.actions.chunks.CHUNKS_A_DISPATCH", 3)
    return settings
