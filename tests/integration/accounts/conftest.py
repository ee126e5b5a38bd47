"""People, applications and tokens for the tests of accounts."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from infra.caching.single import SingleClient
from infra.sharding.shards import all_aliases
from tests.integration.accounts.consent import CALLBACK, NATIVE
from tests.sign_ups import FAST_HASHERS, OUT_OF_BAND, PASSWORD, App, Person


@pytest.fixture(autouse=True)
def fast_passwords(settings: Settings) -> None:
    """The real hasher takes half a second on purpose."""
    settings.PASSWORD_HASHERS = FAST_HASHERS


@pytest.fixture
def client(world: None) -> Client:
    return Client()


@pytest.fixture
def app(client: Client) -> App:
    """An application with Mastodon's usual scopes."""
    return App.register(client)


@pytest.fixture
def member(app: App) -> Person:
    return app.sign_up("ann")


@pytest.fixture
def reading_app(client: Client) -> App:
    """An application with three kinds of redirect address: show the code, a page, a program."""
    return App.register(client, uris=f"{OUT_OF_BAND}\n{CALLBACK}\n{NATIVE}")


@pytest.fixture
def browser(member: Person) -> Client:
    """Ann's browser, signed in."""
    browser = Client()
    browser.post("/auth/sign_in", {"username": "ann@example.org", "password": PASSWORD})
    return browser


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Spending:
    """The SQL and the round trips of a block of code."""

    queries: list[str]
    round_trips: int = 0


@pytest.fixture
def spending(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[Spending]]:
    """`with spending() as spent:` counts SQL on every database and Redis round trips."""

    @contextmanager
    def count() -> Iterator[Spending]:
        spent = Spending([])
        run = SingleClient.run

        def counted(self: SingleClient, commands: object) -> object:
            spent.round_trips += 1
            return run(self, commands)  # type: ignore[arg-type]

        with monkeypatch.context() as patch, ExitStack() as stack:
            patch.setattr(SingleClient, "run", counted)
            captures = [
                stack.enter_context(CaptureQueriesContext(connections[alias]))
                for alias in all_aliases()
            ]
            yield spent
            spent.queries = [query["sql"] for capture in captures for query in capture]

    return count
