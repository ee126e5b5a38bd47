"""Finds the meanings of an operator's text: a name, an id, a link, or a pair of accounts."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.urls import reverse

from accounts.queries.users import find_account_id, is_user
from infra.api.ids import parse_account_id
from operations.types import SearchResult
from posts.ids import MalformedPostId, PostId

LONGEST = 500
BETWEEN = re.compile(r"\s*(?:->|→|,|\s)\s*")


def find(text: str) -> list[SearchResult]:
    """All possible meanings of any text. A name can consist of digits, or look like a post id.

    Accounts exist; a post or an edge may not. Cost: at most five queries by key on the default
    database.
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        return []
    words = BETWEEN.split(text)
    if len(words) == 2:
        return _edges(*words)
    return [] if len(words) > 2 else [*_accounts(words[0]), *_posts(words[0])]


def _edges(first: str, second: str) -> list[SearchResult]:
    pair = [_one_account(word) for word in (first, second)]
    if None in pair:
        return []
    return [SearchResult(f"Edges between {first} and {second}", reverse("find_edge", args=pair))]


def _one_account(word: str) -> int | None:
    """The account of a word. Digits are an id first, then a name; with an @ always a name."""
    return next(_account_ids(word), None)


def _accounts(word: str) -> Iterator[SearchResult]:
    for account_id in dict.fromkeys(_account_ids(word)):
        yield SearchResult(f"Account {account_id}", reverse("find_account", args=[account_id]))


def _account_ids(word: str) -> Iterator[int]:
    account_id = parse_account_id(word)
    if account_id is not None and is_user(account_id):
        yield account_id
    named = find_account_id(_last_step(word).removeprefix("@"))
    if named is not None:
        yield named


def _posts(word: str) -> Iterator[SearchResult]:
    try:
        post_id = PostId.from_public(_last_step(word))
    except MalformedPostId:
        return
    if is_user(post_id.author_id):
        yield SearchResult(f"Post {post_id.public}", reverse("find_post", args=[post_id.public]))


def _last_step(word: str) -> str:
    """The last part of a link's path; other words unchanged."""
    try:
        return urlsplit(word).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return word
