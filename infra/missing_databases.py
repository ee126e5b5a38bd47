"""Whether an answer lacks what databases have that did not answer (`scatter_available`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_missing: ContextVar[set[str] | None] = ContextVar("tideline_missing_databases", default=None)


@contextmanager
def noting_missing() -> Iterator[set[str]]:
    """The aliases of the databases that are left out in this block. Empty: none was.

    Safety: a call on a thread of `scatter` writes to the same set.
    """
    missing: set[str] = set()
    token = _missing.set(missing)
    try:
        yield missing
    finally:
        _missing.reset(token)


def note_missing(alias: str) -> None:
    """Outside of `noting_missing` it does nothing."""
    if (missing := _missing.get()) is not None:
        missing.add(alias)
