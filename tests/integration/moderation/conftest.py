"""Mia is a moderator: her browser, signed in."""

import pytest
from django.test import Client


@pytest.fixture
def mia(world: None) -> Client:
    from tests.integration.moderation.staff_pages import member  # noqa: PLC0415 - has models

    return member("moderator", "mia")
