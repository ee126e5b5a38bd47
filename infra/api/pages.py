"""A page of a list: cursor window in, items and neighbours out, and the Link header between."""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import HttpResponse, QueryDict
from rest_framework.request import Request

from infra.api.rendering import json_response

CURSORS = frozenset(("max_id", "since_id", "min_id"))
T = TypeVar("T")


class Window(NamedTuple):
    """Which part of a list is asked for; cursors are decoded by the list's own type.

    `max_id`: older than. `since_id`: newer than, newest first. `min_id`: immediately newer than.
    """

    limit: int
    max_id: str | None = None
    since_id: str | None = None
    min_id: str | None = None


class Page(NamedTuple, Generic[T]):
    """Items newest first. `older`/`newer`: cursors of the last and first entry *examined*, or None.

    `older` is None when the list ends here.
    """

    items: Sequence[T]
    older: str | None
    newer: str | None


def read_window(query: Mapping[str, str], limit: int) -> Window:
    """The cursors of a request, still as text; empty ones count as absent."""
    return Window(
        limit,
        query.get("max_id") or None,
        query.get("since_id") or None,
        query.get("min_id") or None,
    )


def link_header(url: str, query: QueryDict, older: str | None, newer: str | None) -> str:
    """RFC 8288 links as Mastodon names them: `next` is older, `prev` is newer. May be empty."""
    kept = [(name, v) for name, vs in query.lists() if name not in CURSORS for v in vs]
    base = f"{url}?{urlencode(kept)}&" if kept else f"{url}?"
    links = []
    if older is not None:
        links.append(f'<{base}max_id={_quote(older)}>; rel="next"')
    if newer is not None:
        links.append(f'<{base}min_id={_quote(newer)}>; rel="prev"')
    return ", ".join(links)


def _quote(cursor: str) -> str:
    """Most are of nothing but letters and digits, and quote() would take 3 µs to find that out."""
    return cursor if cursor.isascii() and cursor.isalnum() else quote(cursor)


def page_response(request: Request, page: Page[bytes]) -> HttpResponse:
    """A page of ready-made JSON objects as an array, with its Link header.

    That is plain whatever a client sends: a path that matched a route of ours has nothing but
    words and ids in it, and the query is encoded anew.
    """
    url = f"{settings.PUBLIC_URL}{request.path}"
    link = link_header(url, request.query_params, page.older, page.newer)
    return json_response(b"[%b]" % b",".join(page.items), headers={"Link": link} if link else None)
