"""Pages of two lists: accounts that responded to a post, and posts that an account marked.

Both lists are in the order of time, the latest response or mark first. A cursor is that time (9
base36 digits) and the responder's id (6 digits) or the post's id (14 digits). Any number is a
cursor, too.
"""

from collections.abc import Sequence
from functools import partial

from accounts.queries.load import load_account_json
from infra.api import base36
from infra.api.errors import InvalidCursor
from infra.api.ids import split_cursor
from infra.api.pages import Page, Window
from infra.clock import now_ms
from posts.fragments.places import find_quoted
from posts.fragments.read import find_replied_to, is_open, post_id_of
from posts.ids import BASE36_DIGITS, PostId
from posts.queries.own_responses import find_own_quotes, find_own_row
from posts.queries.row_pages import ListSource, Row, list_rows
from posts.reading.statuses import get_original, get_with_visibility, load_visible
from posts.types import Kind, Visibility
from relations.queries.relationships import load_relationships
from relations.visibility import Surface, hidden_among

WHEN_DIGITS, WHO_DIGITS = 9, 6
RESPONDER_DIGITS, MARK_DIGITS = WHEN_DIGITS + WHO_DIGITS, WHEN_DIGITS + BASE36_DIGITS


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
        hidden = hidden_among(Surface.LISTED, relationships, now_ms())
        return [None if i in hidden else accounts.get(i) for i in ids]

    where = (original.author_id, original.moment, int(kind))
    return list_rows(RESPONDERS, where, window, show, find_own_row(viewer_id, kind, original))


def list_quotes(post_id: PostId, viewer_id: int, window: Window) -> Page[bytes]:
    """Status entities of open posts that quote a post and that the viewer may see, latest first.

    Revoked ones are left out at once. The viewer's own ones are on the first page before the drain
    has recorded them. Raises: PostNotFound, InvalidCursor. Cost: one index-only query, and
    load_visible; up to MOST_BATCHES times if posts are left out.
    """
    original = get_original(post_id, viewer_id)
    show = partial(_show_quotes, original, viewer_id)
    page = list_rows(QUOTES, (original.author_id, original.moment, int(Kind.QUOTE)), window, show)
    if window.max_id or window.min_id:
        return page
    own = [(i.moment, viewer_id) for i in find_own_quotes(viewer_id, original)]
    pending = [status for status in show(own) if status and is_open(status)] if own else []
    return _with_pending(page, pending, window.limit) if pending else page


def _with_pending(page: Page[bytes], pending: Sequence[bytes], limit: int) -> Page[bytes]:
    """What is cut off is on the next page, which may lack pending ones until they are recorded."""
    shown = {_row_of_quote(status): status for status in [*pending, *page.items]}
    newest = sorted(shown, reverse=True)[:limit]
    older = _encode_responder(newest[-1]) if len(shown) > limit else page.older
    return page._replace(items=[shown[row] for row in newest], older=older)


def _row_of_quote(status: bytes) -> tuple[int, int]:
    post_id = post_id_of(status)
    return post_id.moment, post_id.author_id


def _show_quotes(original: PostId, viewer_id: int, rows: Sequence[Row]) -> list[bytes | None]:
    ids = [PostId.at(account_id, moment) for moment, account_id in rows]
    shown = load_visible({i: i for i in ids}, viewer_id, Surface.BROUGHT, now_ms())
    quoting = {i for i, status in shown.items() if find_quoted(status) == original}
    return [shown[i] if i in quoting else None for i in ids]


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

    `has_replies` False: only replies to the author itself. Raises: InvalidCursor. Cost: as
    `list_marked`.
    """

    def show(rows: Sequence[Row]) -> list[bytes | None]:
        shown = _show_marked(viewer_id, rows)
        return [s if s and (has_replies or not is_to_other(s)) else None for s in shown]

    def is_to_other(status: bytes) -> bool:
        return find_replied_to(status) not in (None, author_id)

    return list_rows(VIEWER_MARKS, (author_id, int(Kind.PIN)), window, show)


def _show_marked(viewer_id: int | None, rows: Sequence[Row]) -> list[bytes | None]:
    ids = [PostId.at(author_id, moment) for _, author_id, moment in rows]
    shown = load_visible({i: i for i in ids}, viewer_id)
    return [shown.get(i) for i in ids]


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
QUOTES = RESPONDERS
VIEWER_MARKS = ListSource(
    "posts_viewermark",
    ("since_ms", "target_author", "target_moment"),
    ("owner_id", "kind"),
    _encode_marked,
    _decode_marked,
)
