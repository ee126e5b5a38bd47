"""Posts that an account wants to quote."""

from typing import NamedTuple

from posts.api.present import find_visibility
from posts.api.quote_place import find_policy
from posts.errors import CannotQuote, QuotedNotFound
from posts.ids import PostId
from posts.reading.statuses import load_status_json, load_with_originals
from posts.types import QuotePolicy, Visibility
from relations.queries.relationships import load_relationships


class QuotablePost(NamedTuple):
    """A post that is no repost, and that the account may quote."""

    post_id: PostId
    visibility: Visibility


def get_quotable(post_id: PostId, viewer_id: int) -> QuotablePost:
    """The post, or its original if it is a repost, if the viewer may see and quote it.

    Raises: QuotedNotFound, CannotQuote. Cost: as `load_status_json`; one round trip more if only
    followers may quote it.
    """
    original, status = _get_seen(post_id, viewer_id)
    visibility = find_visibility(status)
    if visibility is Visibility.DIRECT:
        raise CannotQuote
    if original.author_id != viewer_id and not _may_quote(original, status, viewer_id):
        raise CannotQuote
    return QuotablePost(original, visibility)


def _get_seen(post_id: PostId, viewer_id: int) -> tuple[PostId, bytes]:
    statuses, originals = load_with_originals([post_id], viewer_id)
    original = originals.get(post_id, post_id)
    if statuses and original != post_id:
        statuses = load_status_json([original], viewer_id)
    if original not in statuses:
        raise QuotedNotFound
    return original, statuses[original]


def _may_quote(original: PostId, status: bytes, viewer_id: int) -> bool:
    """Whether the author lets the viewer, another account."""
    policy = find_policy(status)
    if policy is not QuotePolicy.FOLLOWERS:
        return policy is QuotePolicy.PUBLIC
    author_id = original.author_id
    return load_relationships(viewer_id, [author_id])[author_id].is_followed
