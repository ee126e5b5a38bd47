"""The owners that the jobs of counts walk."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from counters.queries.drift import list_owners
from infra.jobs.types import Work
from infra.jobs.walk import Piece, Row, walk

# An owner has hundreds of rows, some have millions, and statements must stay short.
BATCH_SIZE = 100


def walk_owners(work: Work) -> Iterator[Piece]:
    """The ids of owners with a count or a counted row, as rows of one column. One query a piece."""
    return walk(work, partial(_read, work.account_id))


def _read(account_id: int | None, alias: str, after: Sequence[Any] | None, count: int) -> list[Row]:
    if account_id is not None:
        return [] if after else [(account_id,)]
    return [*list_owners(alias, after[0] if after else 0, count)]
