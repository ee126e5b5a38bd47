"""A world with an empty journal."""

from collections.abc import Iterator

import pytest
from django.db import close_old_connections

from tests.integration.changes.kinds import Journal
from tests.integration.changes.kinds import journal as the_journal


@pytest.fixture
def journal(world: None) -> Iterator[Journal]:
    the_journal.clear()
    yield the_journal
    the_journal.clear()
    close_old_connections()  # of those a test broke, for the next one's sake
