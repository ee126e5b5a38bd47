"""Validates what a request says of quotes: the post that it quotes, and who may quote it."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from accounts.types import QUOTE_POLICIES
from posts.actions.request_fields import find_choice, find_post_id
from posts.errors import CannotQuote, InvalidDraft, QuotedNotFound
from posts.ids import PostId
from posts.queries.answerable import get_quotable
from posts.types import Draft, PostLinks, QuotePolicy, Visibility

_BY_NAME = {name: QuotePolicy[name.upper()] for name in QUOTE_POLICIES}
POLICY = "quote_approval_policy"


def find_quoted_id(data: Mapping[str, Any]) -> PostId | None:
    """The post that a request quotes; None for no quote. Raises: QuotedNotFound (404)."""
    return find_post_id(data, "quoted_status_id", QuotedNotFound)


def find_quote_policy(data: Mapping[str, Any]) -> QuotePolicy | None:
    """Which accounts may quote the post; None: the request does not say. Raises: InvalidDraft."""
    return find_choice(data, POLICY, _BY_NAME)


def with_quoted(author_id: int, draft: Draft, post_id: PostId) -> Draft:
    """The draft as a quote of the post. A quote of a private post is private too, or direct.

    Raises: QuotedNotFound, CannotQuote. Cost: as `get_quotable`.
    """
    quotable = get_quotable(post_id, author_id)
    closed = Visibility.PRIVATE if quotable.visibility > Visibility.UNLISTED else Visibility.PUBLIC
    return replace(draft, quoted=quotable.post_id, visibility=max(draft.visibility, closed))


def check_told(author_id: int, draft: Draft, links: PostLinks) -> None:
    """A direct message can quote only the author, or an account that it mentions: else others would
    talk about a post behind its author's back, as in Mastodon. Raises: CannotQuote."""
    if draft.quoted is None or draft.visibility != Visibility.DIRECT:
        return
    if draft.quoted.author_id not in (author_id, *(account_id for account_id, _ in links.mentions)):
        raise CannotQuote("A direct message must mention the author of the post that it quotes")


def check_same_quote(data: Mapping[str, Any], quoted: PostId | None) -> None:
    """For edits, with which some clients send the quoted post. Raises: InvalidDraft for another."""
    sent = data.get("quoted_status_id")
    if sent not in (None, "") and (quoted is None or str(sent) != quoted.public):
        raise InvalidDraft("Validation failed: An edit cannot change which post is quoted")
