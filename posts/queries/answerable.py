"""Posts that an account wants to reply to, or to quote."""

from collections.abc import Collection
from typing import NamedTuple

from posts.errors import CannotQuote, CannotReply, ParentNotFound, PostNotFound, QuotedNotFound
from posts.fragments.places import find_quote_policy, find_reply_policy
from posts.fragments.read import find_thread, find_visibility
from posts.ids import PostId
from posts.queries.threads import ThreadedPost
from posts.reading.statuses import get_shown
from posts.reading.viewing import view_posts
from posts.rules import may_reply
from posts.types import QuotePolicy, ReplyPolicy, Visibility
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED


class QuotablePost(NamedTuple):
    """A post that is no repost, and that the account may quote."""

    post_id: PostId
    visibility: Visibility


def get_answerable(post_id: PostId, account_id: int, visibility: Visibility) -> ThreadedPost:
    """The post, or its original if it is a repost, if the account may see it and reply to it.

    The author of the first post of the thread must let the account, too; but readers of a direct
    message may answer it directly, wherever it is. `visibility`: of the reply.
    Raises: ParentNotFound, CannotReply. Cost: as `get_shown`; one round trip more in a thread, or
    if not all may reply.
    """
    try:
        original, status = get_shown(post_id, account_id)
    except PostNotFound:
        raise ParentNotFound from None
    thread = find_thread(status)
    if find_visibility(status) is visibility is Visibility.DIRECT:
        return ThreadedPost(original, thread)
    is_limited = find_reply_policy(status) is not ReplyPolicy.PUBLIC
    if is_limited or thread != original:
        _check_allowed(account_id, {original, thread})
    return ThreadedPost(original, thread)


def _check_allowed(account_id: int, ids: Collection[PostId]) -> None:
    """A first post that the account may not see still says who may reply; a deleted one does not.

    Raises: CannotReply.
    """
    viewed = view_posts({post_id: post_id for post_id in ids}, account_id)
    for post_id, fragment in viewed.hydrated.fragments.items():
        relationship = viewed.relationships.get(post_id.author_id, UNRELATED)
        if not may_reply(account_id, post_id.author_id, fragment, relationship):
            raise CannotReply


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
