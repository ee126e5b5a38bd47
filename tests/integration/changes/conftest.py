"""A world with an empty journal."""

from collections.abc import Iterator

import pytest

from tests.integration.changes.kinds import Journal
from tests.integration.changes.kinds import journal as the_journal


@pytest.fixture
def journal(world: None) -> Iterator[Journal]:
    the_journal.clear()
    yield the_journal
    the_journal.clear()
