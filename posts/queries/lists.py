"""Pages of who reposted or favourited a post, and of what an account favourited or bookmarked.

Both are rows with a `kind`, live ones first by when they began. Cursors are 15 base36 digits
(when, and who) and 23 (when, and which post).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from accounts.queries.load import load_account_json
from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.queries.statuses import get_original, load_visible
from posts.types import Kind
from relations.queries.relationships import load_relationships

WHEN_DIGITS, WHO_DIGITS, POST_DIGITS = 9, 6, 14
# So many reads fill a page; somebody who blocks a thousand responders pages on by hand.
MOST_BATCHES = 8
Row = tuple[int, ...]
# What of each row may be seen, or None.
Show = Callable[[Sequence[Row]], list[bytes | None]]


class ExaminedRow(NamedTuple):
    """A row of a list, and what is sent of it; None when the viewer may not see it."""

    row: Row
    body: bytes | None


class ListSource(NamedTuple):
    """One of the two tables: its order, whose rows, and what a cursor of it looks like."""

    table: str
    order: Sequence[str]
    owner: Sequence[str]
    encode: Callable[[Row], str]
    decode: Callable[[str], Row]


def list_responders(
    post_id: PostId, kind: Kind, viewer_id: int | None, window: Window
) -> Page[bytes]:
    """Accounts, the latest to respond first, without those the viewer blocks or is blocked by.

    Raises: PostNotFound, InvalidCursor. Cost: one index-only query and the accounts, again for
    what is taken out.
    """
    original = get_original(post_id, viewer_id)

    def show(rows: Sequence[Row]) -> list[bytes | None]:
        ids = [responder_id for _, responder_id in rows]
        accounts = load_account_json(ids)
        relationships = load_relationships(viewer_id, ids) if viewer_id is not None else {}
        hidden = {i for i, relationship in relationships.items() if relationship.is_blocked}
        return [None if i in hidden else accounts.get(i) for i in ids]

    return _list(RESPONDERS, (original.author_id, original.moment, int(kind)), window, show)


def list_marked(owner_id: int, kind: Kind, window: Window) -> Page[bytes]:
    """Status entities of what the owner marked, the latest mark first; those that may be seen.

    Raises: InvalidCursor. Cost: one index-only query, then as load_shown; again for what is taken
    out.
    """

    def show(rows: Sequence[Row]) -> list[bytes | None]:
        ids = [PostId.at(author_id, moment) for _, author_id, moment in rows]
        shown = load_visible({i: i for i in ids}, owner_id)
        return [shown.get(i) for i in ids]

    return _list(VIEWER_MARKS, (owner_id, int(kind)), window, show)


def _list(listing: ListSource, owner: Sequence[int], window: Window, show: Show) -> Page[bytes]:
    """A page that is full unless the list ends, or MOST_BATCHES did not fill it: then it has a
    cursor all the same, of the last row examined."""
    examined: list[ExaminedRow] = []
    for _ in range(MOST_BATCHES):
        batch = _read(listing, owner, window, examined[-1].row if examined else None)
        examined += map(ExaminedRow, batch, show(batch))
        shown = [index for index, one in enumerate(examined) if one.body is not None]
        if len(shown) > window.limit:
            return _page(listing, window, examined[: shown[window.limit - 1] + 1], has_more=True)
        if len(batch) <= window.limit:
            return _page(listing, window, examined, has_more=False)
    return _page(listing, window, examined, has_more=True)


def _read(
    listing: ListSource, owner: Sequence[int], window: Window, after: Row | None
) -> list[Row]:
    """Rows of the window that follow the last one examined, one more than a page. One query."""
    newest_first = window.min_id is None
    columns, direction = ", ".join(listing.order), "DESC" if newest_first else "ASC"
    bounds = [(window.max_id, "<"), (window.min_id or window.since_id, ">")]
    given = [(listing.decode(text), sign) for text, sign in bounds if text]
    if after is not None:
        given.append((after, "<" if newest_first else ">"))
    marks = ", ".join(["%s"] * len(listing.order))
    conditions = [f"{name} = %s" for name in (*listing.owner, "kind")]
    conditions += ["is_on", *(f"({columns}) {sign} ({marks})" for _, sign in given)]
    sql = (
        f"SELECT {columns} FROM {listing.table} WHERE {' AND '.join(conditions)}"  # noqa: S608
        f" ORDER BY {', '.join(f'{name} {direction}' for name in listing.order)} LIMIT %s"
    )
    params = [*owner, *(value for row, _ in given for value in row), window.limit + 1]
    return fetch_all(shard_of(owner[0]), sql, params)


def _page(
    listing: ListSource, window: Window, examined: Sequence[ExaminedRow], has_more: bool
) -> Page[bytes]:
    """`examined`: in the order they were read, which is oldest first above a `min_id`."""
    if not examined:
        return Page([], None, None)
    newest_first = examined if window.min_id is None else examined[::-1]
    has_older = has_more or window.min_id is not None
    older = listing.encode(newest_first[-1].row) if has_older else None
    bodies = [one.body for one in newest_first if one.body is not None]
    return Page(bodies, older, listing.encode(newest_first[0].row))


def _encode_responder(row: Row) -> str:
    return base36.encode(row[0], WHEN_DIGITS) + base36.encode(row[1], WHO_DIGITS)


def _decode_responder(text: str) -> Row:
    """Raises InvalidCursor."""
    when, who = _cut(text, WHO_DIGITS)
    return when, base36.decode(who)


def _encode_marked(row: Row) -> str:
    return base36.encode(row[0], WHEN_DIGITS) + PostId.at(row[1], row[2]).public


def _decode_marked(text: str) -> Row:
    """Raises InvalidCursor."""
    when, which = _cut(text, POST_DIGITS)
    post_id = PostId.from_public(which)
    return when, post_id.author_id, post_id.moment


def _cut(text: str, digits: int) -> tuple[int, str]:
    """When, and the rest. Raises InvalidCursor for what is no such number of base36 digits."""
    if len(text) != WHEN_DIGITS + digits:
        raise InvalidCursor
    try:
        base36.decode(text)
        return base36.decode(text[:WHEN_DIGITS]), text[WHEN_DIGITS:]
    except ValueError:
        raise InvalidCursor from None


RESPONDERS = ListSource(
    "posts_response",
    ("at", "responder_id"),
    ("author_id", "moment"),
    _encode_responder,
    _decode_responder,
)
VIEWER_MARKS = ListSource(
    "posts_viewermark",
    ("since_ms", "target_author", "target_moment"),
    ("owner_id",),
    _encode_marked,
    _decode_marked,
)
