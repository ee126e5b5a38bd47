"""The browser of a session, for the conftests of tests that need one."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import REASON, find_chromium
from tests.browser.driving import Driven, driven


@pytest.fixture(scope="session")
def browser() -> Iterator[Driven]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(REASON)
    with driven(chromium) as running:
        yield running
