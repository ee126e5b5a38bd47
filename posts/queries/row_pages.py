"""Pages of lists whose rows are read from a table, and of which the viewer may not see all rows.

The caller says where the rows are (ListSource) and how they are shown (Show).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all

# A page is at most this many reads. A viewer who may see very few of the rows gets a short page.
MOST_BATCHES = 8
# The least number of rows of each read but the first.
NEXT_BATCH = 100
Row = tuple[int, ...]
# The JSON of each row; None if the viewer may not see it.
Show = Callable[[Sequence[Row]], list[bytes | None]]


class ExaminedRow(NamedTuple):
    """A row of a list and its JSON; `body` None if the viewer may not see it."""

    row: Row
    body: bytes | None


class ListSource(NamedTuple):
    """The table of a list, its order, the columns of its owner, and the format of its cursor.

    `where`: a condition of its rows. `more`: columns of each row after those of the order.
    """

    table: str
    order: Sequence[str]
    owner: Sequence[str]
    encode: Callable[[Row], str]
    decode: Callable[[str], Row]
    where: str = "is_on"
    more: Sequence[str] = ()


class OwnRow(NamedTuple):
    """The viewer's own row of a list, which the shard of the list may not have yet, or still have.

    `at`: None if the viewer is not on the list.
    """

    account_id: int
    at: int | None


def list_rows(
    source: ListSource,
    owner: Sequence[int],
    window: Window,
    show: Show,
    own: OwnRow | None = None,
) -> Page[bytes]:
    """A full page, unless the list ends or MOST_BATCHES did not fill the page.

    The cursors name only rows that the viewer may see: a hidden row is as good as absent. `own`: of
    a list of accounts, by time.
    """
    shown: list[ExaminedRow] = []
    last: Row | None = None
    size = window.limit + 1
    for _ in range(MOST_BATCHES):
        batch = _read(source, owner, window, last, size, own)
        examined = map(ExaminedRow, batch, show(batch))
        shown += [row for row in examined if row.body is not None]
        if len(shown) > window.limit:
            return _page(source, window, shown[: window.limit], has_more=True)
        if len(batch) < size:
            return _page(source, window, shown, has_more=False)
        last, size = batch[-1], max(size, NEXT_BATCH)
    return _short_page(source, window, shown, last)


def _read(
    source: ListSource,
    owner: Sequence[int],
    window: Window,
    after: Row | None,
    size: int,
    own: OwnRow | None = None,
) -> list[Row]:
    """The first `size` rows of the window after `after`. One query."""
    newest_first = window.min_id is None
    columns, direction = ", ".join(source.order), "DESC" if newest_first else "ASC"
    bounds = [(window.max_id, "<"), (window.min_id or window.since_id, ">")]
    given = [(source.decode(text), sign) for text, sign in bounds if text]
    if after is not None:
        given.append((after[: len(source.order)], "<" if newest_first else ">"))
    placeholders = ", ".join(["%s"] * len(source.order))
    conditions = [f"{name} = %s" for name in source.owner]
    conditions += [source.where, *(f"({columns}) {sign} ({placeholders})" for _, sign in given)]
    wanted = ", ".join([*source.order, *source.more])
    sql = (
        f"SELECT {wanted} FROM {source.table} WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY {', '.join(f'{name} {direction}' for name in source.order)} LIMIT %s"
    )
    # One more: the row of `own` may be among them.
    params = [*owner, *(value for row, _ in given for value in row), size + (own is not None)]
    rows = fetch_all(shard_of(owner[0]), sql, params)
    if own is None:
        return rows
    others = [row for row in rows if row[1] != own.account_id]
    own_rows = [(own.at, own.account_id)] if own.at is not None else []
    inside = [
        r for r in own_rows if all(r < row if sign == "<" else r > row for row, sign in given)
    ]
    return sorted([*others, *inside], reverse=newest_first)[:size]


def _page(
    source: ListSource, window: Window, shown: Sequence[ExaminedRow], has_more: bool
) -> Page[bytes]:
    """The page of these rows. They are in the order of the query: oldest first with a `min_id`."""
    if not shown:
        return Page([], None, None)
    newest_first = shown if window.min_id is None else shown[::-1]
    has_older = has_more or window.min_id is not None
    older = source.encode(newest_first[-1].row) if has_older else None
    bodies = [examined.body for examined in newest_first if examined.body is not None]
    return Page(bodies, older, source.encode(newest_first[0].row))


def _short_page(
    source: ListSource, window: Window, shown: Sequence[ExaminedRow], last: Row | None
) -> Page[bytes]:
    """The page of the rows found so far. The next page begins at the last examined row.

    That row may be hidden, so the cursor has its time only. The next page reads the rows of that
    time again; they must be fewer than a page examines.
    """
    page = _page(source, window, shown, has_more=True)
    if last is None:
        return page
    newest_first = window.min_id is None
    cursor = source.encode((last[0] + newest_first, *(0 for _ in last[1:])))
    return page._replace(older=cursor) if newest_first else page._replace(newer=cursor)
