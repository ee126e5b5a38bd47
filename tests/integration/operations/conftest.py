"""Operators and others on the staff, and shards that are down."""

import pytest
from django.db import connections


@pytest.fixture
def operator(world):
    from tests.integration.operations.staff import staff_of  # noqa: PLC0415 - has models

    return staff_of("operator")


@pytest.fixture
def moderator(world):
    from tests.integration.operations.staff import staff_of  # noqa: PLC0415 - has models

    return staff_of("moderator")


@pytest.fixture
def take_down(monkeypatch):
    """Whoever connects to that database from now on is refused."""

    def refuse(alias):
        monkeypatch.setitem(connections.settings[alias], "HOST", "127.0.0.1")
        monkeypatch.setitem(connections.settings[alias], "PORT", "1")

    return refuse
