"""An object shares the posts that mention it: they are on its page, and in its followers' homes.

A share is a repost by the object (decision 0112), so all that holds for reposts holds for it.

| killed | left | repaired by |
|---|---|---|
| before the repost is written | no share | the consumer, which runs again |
| after it | the share | the consumer finds it |
"""

from collections.abc import Collection

from accounts.encode import is_locked
from accounts.queries.load import find_objects
from infra.sharding.buckets import shard_of
from posts.actions.repost import repost, undo_repost
from posts.errors import CannotRepost, PostNotFound
from posts.ids import PostId
from posts.queries.responses import read_responses
from posts.reading.statuses import get_repostable
from posts.types import Kind
from relations.queries.relationships import load_relationships
from relations.types import Attribute

Mention = tuple[int, PostId]  # the account that the post mentions, and the post


def share_posts(mentions: Collection[Mention]) -> None:
    """Shares public posts that are no replies, by those of the accounts that are objects.

    An object shares what it may repost: not the posts of accounts that block it or that it blocks.
    One that approves its followers shares theirs only. What its service took back stays so.
    Safety: idempotent. Cost: one round trip; for each object and post two more, and the repost.
    """
    objects = find_objects(account_id for account_id, _ in mentions)
    for object_id, post_id in mentions:
        if object_id in objects and _may_share(object_id, post_id, objects[object_id]):
            repost(object_id, post_id)


def end_shares(mentions: Collection[Mention]) -> None:
    """Takes back what objects shared of posts that do not mention them any more. Safety, cost: as
    `share_posts`."""
    objects = find_objects(account_id for account_id, _ in mentions)
    for object_id, post_id in mentions:
        if object_id in objects:
            undo_repost(object_id, post_id)


def _may_share(object_id: int, post_id: PostId, fragment: bytes) -> bool:
    try:
        get_repostable(post_id, object_id)
    except (PostNotFound, CannotRepost):
        return False
    if is_locked(fragment):
        author = load_relationships(object_id, [post_id.author_id])[post_id.author_id]
        # A quiet follow is a secret, which a share would tell.
        if author.theirs is not Attribute.FOLLOW:
            return False
    return not _was_taken_back(object_id, post_id)


def _was_taken_back(object_id: int, post_id: PostId) -> bool:
    """A change may be replayed days later. One query of the post's shard by key."""
    identity = (post_id.author_id, post_id.moment, int(Kind.REPOST), object_id, 0)
    known = read_responses(shard_of(post_id.author_id), [identity]).get(identity)
    return known is not None and not known.is_on
