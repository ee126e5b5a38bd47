"""A path for each route of the web pages, found from the routes, so that no page is forgotten."""

import re
from typing import NamedTuple

from lab.accept.routes import iter_pages
from posts.ids import PostId

PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")
# Of what there is none, and words.
OTHERS = {
    "name": "tide", "form": "mute", "act": "follow", "number": "1", "address": "1", "token": "1",
    "list_id": "1", "group_key": "1", "strike_id": "1", "campaign_id": "1", "scheduled_id": "1",
    "filter_id": "1", "reaction": "clap",
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
        for route, view in iter_pages()
    ]
