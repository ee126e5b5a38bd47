"""Posts that an account wants to quote."""

from typing import NamedTuple

from posts.errors import CannotQuote, PostNotFound, QuotedNotFound
from posts.fragments.places import find_quote_policy
from posts.fragments.present import find_visibility
from posts.ids import PostId
from posts.reading.statuses import get_shown
from posts.types import QuotePolicy, Visibility
from relations.queries.relationships import load_relationships


class QuotablePost(NamedTuple):
    """A post that is no repost, and that the account may quote."""

    post_id: PostId
    visibility: Visibility


def get_quotable(post_id: PostId, viewer_id: int) -> QuotablePost:
    """The post, or its original if it is a repost, if the viewer may see and quote it.

    Raises: QuotedNotFound, CannotQuote. Cost: as `get_shown`; one round trip more if only followers
    may quote it.
    """
    try:
        original, status = get_shown(post_id, viewer_id)
    except PostNotFound:
        raise QuotedNotFound from None
    visibility = find_visibility(status)
    if visibility is Visibility.DIRECT:
        raise CannotQuote
    if original.author_id != viewer_id and not _may_quote(original, status, viewer_id):
        raise CannotQuote
    return QuotablePost(original, visibility)


def _may_quote(original: PostId, status: bytes, viewer_id: int) -> bool:
    """Whether the author lets the viewer, another account."""
    policy = find_quote_policy(status)
    if policy is not QuotePolicy.FOLLOWERS:
        return policy is QuotePolicy.PUBLIC
    author_id = original.author_id
    return load_relationships(viewer_id, [author_id])[author_id].is_followed
