"""One browser a session, one web server a module, one tab a test."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.artifacts import ARTIFACTS, SHOTS
from tests.browser.driving import Driven
from tests.browser.live_site import delivering
from tests.browser.serving import running_site
from tests.browser.session import browser
from tests.browser.tab import DESKTOP, Look, Size, Tab

__all__ = ["browser", "delivery", "site", "tab", "tab_of"]


@pytest.fixture(scope="module")
def site(databases: None, worker_id: str) -> Iterator[str]:
    """Ends with its module: its threads take budgets of promotions and write to Redis."""
    ARTIFACTS.mkdir(exist_ok=True)
    with running_site(ARTIFACTS / f"web-{worker_id}.log") as address:
        yield address


@pytest.fixture(scope="module")
def delivery(databases: None, worker_id: str) -> Iterator[None]:
    """Changes are delivered all the time, as in production."""
    with delivering(worker_id):
        yield


@pytest.fixture
def tab_of(
    world: None, browser: Driven, site: str, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Tab]]:
    """Opens a tab of that size. Whatever the test does there, nothing may go wrong unseen; what it
    saw last is kept as a picture."""
    tabs: list[Tab] = []

    def make(size: Size = DESKTOP, **look: Any) -> Tab:
        tabs.append(Tab(browser, site, Look(size, **look)))
        return tabs[-1]

    yield make
    for number, tab in enumerate(tabs):
        name = re.sub(r"\W+", "-", f"{request.node.name}-{number or ''}").strip("-")
        tab.shoot(SHOTS / f"{name}.png")
        tab.close()
    assert [fault for tab in tabs for fault in tab.faults] == []


@pytest.fixture
def tab(tab_of: Callable[..., Tab]) -> Tab:
    return tab_of()


@pytest.fixture
def ann(world: None) -> int:
    return _named("ann")


@pytest.fixture
def ben(world: None) -> int:
    return _named("ben")


def _named(name: str) -> int:
    from tests.browser.feeds import make_named  # noqa: PLC0415 - has models

    return make_named(name)
