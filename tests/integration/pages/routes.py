"""A path for each route of the web pages, found from the routes, so that no page is forgotten."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLResolver, get_resolver
from django.views import View

from posts.ids import PostId

PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")
# Of what there is none, and words.
OTHERS = {
    "name": "tide", "form": "mute", "act": "follow", "number": "1", "address": "1", "token": "1",
    "list_id": "1", "group_key": "1", "strike_id": "1", "campaign_id": "1", "scheduled_id": "1",
    "filter_id": "1",
}  # fmt: skip


class Page(NamedTuple):
    """`method`: GET, or POST for a form that is only sent."""

    path: str
    method: str


def list_pages(account_id: int, post_id: PostId, username: str = "ann") -> list[Page]:
    """Of an account and a post that exist. A placeholder that is not known here fails."""
    fillings = {"post": post_id.public, "account": str(account_id), "username": username}

    def fill(match: re.Match[str]) -> str:
        kind, name = match.groups()
        return fillings.get(kind) or fillings.get(name) or OTHERS[name]

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
