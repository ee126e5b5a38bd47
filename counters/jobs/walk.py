"""The owners that jobs of counts go through."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from counters.queries.drift import list_owners
from infra.jobs.types import Work
from infra.jobs.walk import Piece, Row, walk

# Each owner has hundreds of rows, some have millions: a statement must stay short.
BATCH_SIZE = 100


def walk_owners(work: Work) -> Iterator[Piece]:
    """Who has a count or a row that is counted: rows of one column. One query a piece."""
    return walk(work, partial(_read, work.account_id))


def _read(account_id: int | None, alias: str, after: Sequence[Any] | None, count: int) -> list[Row]:
    if account_id is not None:
        return [] if after else [(account_id,)]
    return [*list_owners(alias, after[0] if after else 0, count)]
