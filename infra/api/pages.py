"""Pages of a list: the window of cursors in a request, and the page with its Link header."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import HttpResponse, QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from infra.api.entity_tags import make_tag, response_with_tag
from infra.api.errors import InvalidCursor
from infra.api.fields import cursor_schema
from infra.api.ids import parse_number
from infra.api.parsing import LIMIT_DIGITS
from infra.api.rendering import json_response

# `around_id` begins a walk at home; its links have one of the others.
CURSORS = frozenset(("max_id", "since_id", "min_id", "around_id"))
T = TypeVar("T")


class Window(NamedTuple):
    """The requested part of a list. Each list decodes its own cursors.

    `max_id`: older items. `since_id`: newer items, newest first. `min_id`: the items immediately
    newer. With `max_id`, these two ask for what is between two cursors, and for nothing else.
    """

    limit: int
    max_id: str | None = None
    since_id: str | None = None
    min_id: str | None = None

    @property
    def is_newest(self) -> bool:
        """Whether the client asks for the newest items of all."""
        return not (self.max_id or self.min_id or self.since_id)

    @property
    def is_poll(self) -> bool:
        """Whether the client asks for news: for items above a cursor, up to the newest."""
        return self.max_id is None and bool(self.min_id or self.since_id)


class Page(NamedTuple, Generic[T]):
    """Items newest first. `older`/`newer`: cursors of the last and first entry *examined*, or None.

    `older` is None when the list ends here.
    """

    items: Sequence[T]
    older: str | None
    newer: str | None


class HeadersOfUrl(NamedTuple):
    """Link and ETag of an answer. `url`: what the request said of its path and its query."""

    url: tuple[Any, ...]
    headers: Mapping[str, str]


class ReusablePage(Page[bytes]):
    """A page that may answer several requests. `last_answer`: the headers of the last one."""

    last_answer: HeadersOfUrl | None = None


def paging(width: int) -> list[OpenApiParameter]:
    """The query parameters of a list, for the OpenAPI document.

    `width`: the base36 digits of a cursor, 0 if its cursors are numbers.
    """
    cursor, late = cursor_schema(width), "Timelines also return posts that arrived late, below it"
    texts = {
        "max_id": "Older than this cursor",
        "since_id": f"Newer than this cursor, newest first. {late}",
        "min_id": f"Immediately newer than this cursor. {late}",
    }
    limit = {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1}
    return [
        OpenApiParameter("limit", limit, description="Most items on the page"),
        *(OpenApiParameter(name, cursor, description=text) for name, text in texts.items()),
    ]


def read_window(query: Mapping[str, str], limit: int, width: int) -> Window:
    """The cursors of a request, as text. An empty cursor counts as absent.

    `width`: as in `paging`. Raises: InvalidCursor, also for a cursor that does not count because
    of another one.
    """
    if CURSORS.isdisjoint(query):
        return Window(limit)
    return Window(limit, *(_read_cursor(query, name, width) for name in Window._fields[1:]))


def _read_cursor(query: Mapping[str, str], name: str, width: int) -> str | None:
    text = query.get(name)
    if not text:
        return None
    try:
        parse_number(text, width)
    except ValueError:
        raise InvalidCursor from None
    return text


def link_header(url: str, query: QueryDict, older: str | None, newer: str | None) -> str:
    """RFC 8288 links as Mastodon names them: `next` is older, `prev` is newer. May be empty."""
    other = [(name, v) for name, vs in query.lists() if name not in CURSORS for v in vs]
    base = f"{url}?{urlencode(other)}&" if other else f"{url}?"
    links = []
    if older is not None:
        links.append(f'<{base}max_id={_quote(older)}>; rel="next"')
    if newer is not None:
        links.append(f'<{base}min_id={_quote(newer)}>; rel="prev"')
    return ", ".join(links)


def _quote(cursor: str) -> str:
    """Most cursors are letters and digits. The test for that is much faster than quote()."""
    return cursor if cursor.isascii() and cursor.isalnum() else quote(cursor)


def page_response(request: Request, page: Page[bytes]) -> HttpResponse:
    """A page of ready-made JSON objects as an array, with its Link header.

    The Link header is safe: a path that matched one of our routes has only words and ids, and the
    query is encoded again.
    """
    link = _link_of(request, page)
    return json_response(_join(page), headers={"Link": link} if link else None)


def object_page_response(request: Request, page: Page[Any], body: bytes) -> HttpResponse:
    """A page whose items are inside of one JSON object, with its Link header."""
    link = _link_of(request, page)
    return json_response(body, headers={"Link": link} if link else None)


def tagged_page_response(request: Request, page: Page[bytes]) -> HttpResponse:
    """As `page_response`, with an ETag; 304 if the client has this page."""
    if isinstance(page, ReusablePage):
        headers = _find_headers(request, page)
    else:
        headers = _make_headers(request, page)
    return response_with_tag(request, headers, _join(page))


def _find_headers(request: Request, page: ReusablePage) -> Mapping[str, str]:
    """The headers of the page's last answer if the request is the same, as mostly."""
    asked = request._request.META
    # A content type may name the encoding of the query.
    url = request.path, asked.get("QUERY_STRING"), asked.get("CONTENT_TYPE")
    last = page.last_answer
    if last is None or last.url != url:
        page.last_answer = last = HeadersOfUrl(url, _make_headers(request, page))
    return last.headers


def _make_headers(request: Request, page: Page[bytes]) -> Mapping[str, str]:
    link = _link_of(request, page)
    tag = make_tag(_join(page), link)
    return {"Link": link, "ETag": tag} if link else {"ETag": tag}


def _link_of(request: Request, page: Page[Any]) -> str:
    url = f"{settings.PUBLIC_URL}{request.path}"
    return link_header(url, request.query_params, page.older, page.newer)


def _join(page: Page[bytes]) -> bytes:
    return b"[%b]" % b",".join(page.items)
