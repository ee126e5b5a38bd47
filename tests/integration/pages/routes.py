"""A path for each route of the web pages, found from the routes, so that no page is forgotten."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLResolver, get_resolver
from django.views import View

from posts.ids import PostId

PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")


class Page(NamedTuple):
    """`method`: GET, or POST for a form that is only sent."""

    path: str
    method: str


def list_pages(account_id: int, post_id: PostId, username: str = "ann") -> list[Page]:
    """Of an account and a post that exist. Other placeholders are 1, which nothing has."""
    fillings = {"post": post_id.public, "account": str(account_id), "username": username}

    def fill(match: re.Match[str]) -> str:
        kind, name = match.groups()
        return fillings.get(kind, fillings.get(name, "1"))

    return [
        Page("/" + PLACEHOLDER.sub(fill, route), "get" if hasattr(view, "get") else "post")
        for route, view in _routes()
    ]


def _routes() -> Iterator[tuple[str, type[View]]]:
    included = [one for one in get_resolver().url_patterns if isinstance(one, URLResolver)]
    for page in (page for resolver in included for page in resolver.url_patterns):
        view = getattr(page.callback, "view_class", View)
        if view.__module__.startswith("pages."):
            yield str(page.pattern), view
