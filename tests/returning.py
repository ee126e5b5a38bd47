"""Which home pages are of readers who come back soon: these are made with process memory.

Most tests are about what a process remembers. So there everybody comes back. A module that asks for
`every_other_reader_passes` has pages of both kinds in turn.
"""

from collections.abc import Iterator
from itertools import cycle

import pytest

from timelines.queries import home


@pytest.fixture(scope="session", autouse=True)
def everybody_comes_back() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "is_back", lambda *_: True)
        yield


@pytest.fixture(scope="module")
def every_other_reader_passes() -> Iterator[None]:
    turns = cycle((False, True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "is_back", lambda *_: next(turns))
        yield
