"""Tests of the client alone: no servers, and no Tideline."""

import pytest
from django.contrib.auth.models import User

from tideline_client.contrib.django import connection, feeds


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def pauses(monkeypatch):
    """The pauses between tries, which are not made."""
    made = []
    monkeypatch.setattr("time.sleep", made.append)
    return made


@pytest.fixture
def ann(db):
    return User.objects.create_user("ann", first_name="Ann", last_name="A.")


@pytest.fixture
def use_site(monkeypatch):
    """`use_site(SiteDouble(…))`: the app's client asks it."""

    def use(site):
        client = site.client(retries=0)
        for module in (connection, feeds):
            monkeypatch.setattr(module, "tideline", lambda: client)
        return client

    return use
