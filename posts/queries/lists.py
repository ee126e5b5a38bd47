"""Pages of two lists: accounts that responded to a post, and posts that an account marked.

Both read rows with a `kind` by the time they were set, latest first. A cursor is that time (9
base36 digits) and the responder's id (6 digits) or the post's id (14 digits). Every number is a
cursor, too.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from accounts.queries.load import load_account_json
from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.ids import split_cursor
from infra.api.pages import Page, Window
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.api.present import find_replied_to
from posts.ids import BASE36_DIGITS, PostId
from posts.queries.statuses import get_with_visibility, load_visible
from posts.types import Kind, Visibility
from relations.queries.relationships import load_relationships

WHEN_DIGITS, WHO_DIGITS = 9, 6
RESPONDER_DIGITS, MARK_DIGITS = WHEN_DIGITS + WHO_DIGITS, WHEN_DIGITS + BASE36_DIGITS
# A page is at most so many reads. A viewer who blocks very many responders gets a short page.
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


def list_responders(
    post_id: PostId, kind: Kind, viewer_id: int | None, window: Window
) -> Page[bytes]:
    """Accounts that responded to a post, latest first, without blocks between them and the viewer,
    and without accounts that the viewer mutes.

    The repost of a private post is the author's own and private too, so it is not on the list.
    Raises: PostNotFound, InvalidCursor. Cost: one index-only query, and the accounts; up to
    MOST_BATCHES times if accounts are left out.
    """
    original, visibility = get_with_visibility(post_id, viewer_id)
    if kind is Kind.REPOST and visibility > Visibility.UNLISTED:
        return Page([], None, None)

    def show(rows: Sequence[Row]) -> list[bytes | None]:
        ids = [responder_id for _, responder_id in rows]
        accounts = load_account_json(ids)
        relationships = load_relationships(viewer_id, ids) if viewer_id is not None else {}
        now = now_ms()
        hidden = {i for i, one in relationships.items() if one.is_blocked or one.is_muted_at(now)}
        return [None if i in hidden else accounts.get(i) for i in ids]

    return list_rows(RESPONDERS, (original.author_id, original.moment, int(kind)), window, show)


def list_marked(owner_id: int, kind: Kind, window: Window) -> Page[bytes]:
    """Status entities of the posts that the owner marked and may see, latest mark first.

    Raises: InvalidCursor. Cost: one index-only query, and load_visible; up to MOST_BATCHES times if
    posts are left out.
    """

    show = partial(_show_marked, owner_id)
    return list_rows(VIEWER_MARKS, (owner_id, int(kind)), window, show)


def list_pinned(
    author_id: int, viewer_id: int | None, window: Window, has_replies: bool = True
) -> Page[bytes]:
    """Status entities of the posts that the author pinned and the viewer may see, latest pin first.

    `has_replies` False: without replies. Raises: InvalidCursor. Cost: as `list_marked`.
    """

    def show(rows: Sequence[Row]) -> list[bytes | None]:
        shown = _show_marked(viewer_id, rows)
        return [one if one and (has_replies or not find_replied_to(one)) else None for one in shown]

    return list_rows(VIEWER_MARKS, (author_id, int(Kind.PIN)), window, show)


def _show_marked(viewer_id: int | None, rows: Sequence[Row]) -> list[bytes | None]:
    ids = [PostId.at(author_id, moment) for _, author_id, moment in rows]
    shown = load_visible({i: i for i in ids}, viewer_id)
    return [shown.get(i) for i in ids]


def list_rows(source: ListSource, owner: Sequence[int], window: Window, show: Show) -> Page[bytes]:
    """A full page, unless the list ends or MOST_BATCHES did not fill the page.

    The cursors name only rows that the viewer may see: a hidden row is as good as absent.
    """
    shown: list[ExaminedRow] = []
    last: Row | None = None
    size = window.limit + 1
    for _ in range(MOST_BATCHES):
        batch = _read(source, owner, window, last, size)
        shown += [one for one in map(ExaminedRow, batch, show(batch)) if one.body is not None]
        if len(shown) > window.limit:
            return _page(source, window, shown[: window.limit], has_more=True)
        if len(batch) < size:
            return _page(source, window, shown, has_more=False)
        last, size = batch[-1], max(size, NEXT_BATCH)
    return _short_page(source, window, shown, last)


def _read(
    source: ListSource, owner: Sequence[int], window: Window, after: Row | None, size: int
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
    params = [*owner, *(value for row, _ in given for value in row), size]
    return fetch_all(shard_of(owner[0]), sql, params)


def _page(
    source: ListSource, window: Window, shown: Sequence[ExaminedRow], has_more: bool
) -> Page[bytes]:
    """The page of these rows. They are in the order of the query: oldest first with a `min_id`."""
    if not shown:
        return Page([], None, None)
    newest_first = shown if window.min_id is None else shown[::-1]
    has_older = has_more or window.min_id is not None
    older = source.encode(newest_first[-1].row) if has_older else None
    bodies = [one.body for one in newest_first if one.body is not None]
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


def _encode_responder(row: Row) -> str:
    return base36.encode(row[0], WHEN_DIGITS) + base36.encode(row[1], WHO_DIGITS)


def _decode_responder(text: str) -> Row:
    """Raises: InvalidCursor."""
    return _split(text, WHO_DIGITS)


def _encode_marked(row: Row) -> str:
    return base36.encode(row[0], WHEN_DIGITS) + PostId.at(row[1], row[2]).base36


def _decode_marked(text: str) -> Row:
    """Raises: InvalidCursor."""
    when, which = _split(text, BASE36_DIGITS)
    post_id = PostId.from_number(which)
    return when, post_id.author_id, post_id.moment


def _split(text: str, digits: int) -> tuple[int, int]:
    """The time in a cursor, and the number in its last digits. Raises: InvalidCursor."""
    try:
        return split_cursor(text, WHEN_DIGITS, digits)
    except ValueError:
        raise InvalidCursor from None


RESPONDERS = ListSource(
    "posts_response",
    ("at", "responder_id"),
    ("author_id", "moment", "kind"),
    _encode_responder,
    _decode_responder,
)
VIEWER_MARKS = ListSource(
    "posts_viewermark",
    ("since_ms", "target_author", "target_moment"),
    ("owner_id", "kind"),
    _encode_marked,
    _decode_marked,
)
