"""One process at a time, and pieces of a list."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from demo.errors import AlreadyLoading
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

T = TypeVar("T")

# Held by the session: a process that is killed leaves no lock behind.
LOCK = "SELECT pg_try_advisory_lock(hashtextextended('demo ' || %s, 0))"
UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('demo ' || %s, 0))"


@contextmanager
def alone(name: str) -> Iterator[None]:
    """No other process loads this graph meanwhile. Raises AlreadyLoading."""
    if fetch_one(GLOBAL_ALIAS, LOCK, (name,)) != (True,):
        raise AlreadyLoading(name)
    try:
        yield
    finally:
        fetch_one(GLOBAL_ALIAS, UNLOCK, (name,))


def pieces(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, `size` at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))
