"""Rows that several consumers of one batch need: each is read once a batch.

Most consumers of a change begin with the same rows. What changes a row after that writes a change
of its own, so a consumer that acts on the row as it was in this batch runs again for the newer one.
If another process may have done that first, what the consumer writes needs a version, and the
version must not be newer than the row: never pair such a row with a version that is read later.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")
# Of one shard, by key. Keys without a row are missing.
Read = Callable[[str, Iterable[K]], dict[K, V]]
# By function and shard, and then by key; None: there is no such row.
Known = dict[tuple[Any, str], dict[Any, Any]]
_known: ContextVar[Known | None] = ContextVar("tideline_batch_rows", default=None)


def note_rows(reading: Read[K, V], alias: str, rows: Mapping[K, V]) -> None:
    """For a statement that has read on the way what a function of `read_once` reads."""
    known = _known.get()
    if known is not None:
        known.setdefault((reading.__wrapped__, alias), {}).update(rows)  # type: ignore[attr-defined]


@contextmanager
def batch_rows() -> Iterator[None]:
    """The block runs the consumers of one batch."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def read_once(read: Read[K, V]) -> Read[K, V]:
    """Inside of `batch_rows`, `read` is asked only for what it has not read there yet."""

    @wraps(read)
    def reading(alias: str, keys: Iterable[K]) -> dict[K, V]:
        known = _known.get()
        if known is None:
            return read(alias, keys)
        wanted, rows = list(dict.fromkeys(keys)), known.setdefault((read, alias), {})
        missing = [key for key in wanted if key not in rows]
        if missing:
            rows |= dict.fromkeys(missing) | read(alias, missing)
        return {key: rows[key] for key in wanted if rows[key] is not None}

    return reading
