"""Worlds where fan-outs and live timelines are cut small, and a few fans make an author hot."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from relations.queries import followers


@pytest.fixture
def small_pieces(world: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Chunks of ten, inline up to five, pages of four, three chunks a dispatch."""
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = 5, 10
    monkeypatch.setattr(followers, "FOLLOWERS_A_PAGE", 4)
    monkeypatch.setattr("timelines.actions.chunks.CHUNKS_PER_DISPATCH", 3)
    return settings


@pytest.fixture
def tiny_timelines(settings: Settings) -> Iterator[None]:
    """Six entries, cut at twelve: long reads and many actions cross the low-water mark."""
    from timelines.stores.factory import timeline_store  # noqa: PLC0415 - has models

    settings.TIMELINE_ENTRIES = 6
    timeline_store.cache_clear()
    yield
    timeline_store.cache_clear()


@pytest.fixture
def low_threshold(settings: Settings) -> None:
    """Three followers make an author hot, two let them cool."""
    settings.INLINE_FOLLOWERS, settings.HOT_FOLLOWERS = 2, 3
    settings.CHUNK_FOLLOWERS = 1


@pytest.fixture
def fans(low_threshold: None, world: None) -> object:
    """A star, a friend, and me; I have a live timeline."""
    from tests.integration.timelines.homes import first_page  # noqa: PLC0415 - has models
    from tests.integration.timelines.stars import Fans  # noqa: PLC0415

    fans = Fans()
    first_page(fans.me)
    return fans


@pytest.fixture(params=["replicated", "by_author"])
def each_index(request: pytest.FixtureRequest, world: None, settings: Settings) -> str:
    """Runs a test with each recent-posts index."""
    settings.RECENT_INDEX = request.param
    return str(request.param)
