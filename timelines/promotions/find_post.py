"""Finds posts that an operator may promote: by words, author, address or id."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
from django.utils.safestring import SafeString

from infra.api.errors import InvalidRequest
from posts.ids import MalformedPostId, PostId
from posts.reading.statuses import load_status_json
from timelines.promotions.preview import draw_status
from timelines.search.queries.everything import search_everything
from timelines.search.types import ResultType, SearchRequest

MOST_SHOWN = 20
OPEN = ("public", "unlisted")
_AUTHOR = re.compile(r"@(\w+)")


class PromotablePost(NamedTuple):
    """A post as people will see it. `facts`: how it is doing."""

    id: str
    url: str
    facts: str
    card: SafeString


class SearchOutcome(NamedTuple):
    """`problem`: why there is nothing; empty otherwise."""

    posts: list[PromotablePost]
    problem: str = ""


def find_posts(text: str, operator_id: int) -> SearchOutcome:
    """The newest posts that everybody may read and that the text finds, at most MOST_SHOWN.

    Cost: as a search of the API. Raises: OperationalError, InterfaceError if no shard answers.
    """
    if not text:
        return SearchOutcome([])
    try:
        bodies = _find_bodies(text, operator_id)
    except InvalidRequest as error:
        return SearchOutcome([], str(error))
    posts = [_present(status) for status in map(orjson.loads, bodies) if is_promotable(status)]
    return SearchOutcome(posts, "" if posts else "No post that everybody may read was found.")


def find_post_id(text: str) -> PostId | None:
    """The post that this id, or this address of a post, names; it need not exist."""
    try:
        return PostId.from_public(text.rstrip("/").rpartition("/")[2])
    except MalformedPostId:
        return None


def load_promotable(post_id: PostId) -> dict[str, Any] | None:
    """The Status entity; None for a post that does not exist, or that may not be promoted."""
    body = load_status_json([post_id]).get(post_id)
    status = None if body is None else orjson.loads(body)
    return status if status and is_promotable(status) else None


def is_promotable(status: dict[str, Any]) -> bool:
    return status["visibility"] in OPEN and not status["reblog"]


def _find_bodies(text: str, operator_id: int) -> Iterable[bytes]:
    if post_id := find_post_id(text):
        return load_status_json([post_id]).values()
    author = _AUTHOR.fullmatch(text)
    words = f"from:{author[1]}" if author else text
    request = SearchRequest(words, operator_id, [ResultType.STATUSES], MOST_SHOWN)
    return search_everything(request).statuses


def _present(status: dict[str, Any]) -> PromotablePost:
    counts = (
        ("replies", status["replies_count"]),
        ("reposts", status["reblogs_count"]),
        ("favourites", status["favourites_count"]),
    )
    day = status["created_at"][:10]
    facts = ", ".join((day, *(f"{count} {name}" for name, count in counts)))
    return PromotablePost(status["id"], status["url"], facts, draw_status(status))
