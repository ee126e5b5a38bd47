"""Changes which accounts may quote a post and reply to it: one statement on the author's shard."""

from msgspec.structs import replace

from accounts.errors import AccountNotFound
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PoliciesChanged
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.types import QuotePolicy, ReplyPolicy

# posts/functions.sql: lock, row, version and change in one round trip.
SET = f"SELECT * FROM posts_set_policies({', '.join(['%s'] * 7)})"  # noqa: S608


def set_policies(post_id: PostId, quote: QuotePolicy | None, reply: ReplyPolicy | None) -> bool:
    """Sets them for new quotes and replies; those that there are stay. None leaves a policy as it
    is. False: they were so already.

    Raises: PostNotFound if the post is deleted, hidden or a repost; AccountNotFound. Safety:
    idempotent. Cost: one statement on the author's shard.
    """
    author_id, alias = post_id.author_id, shard_of(post_id.author_id)
    change = PoliciesChanged(post_id.moment, 0, 0)
    policies = (None if policy is None else int(policy) for policy in (quote, reply))
    values = (author_id, post_id.moment, *policies, *change_columns(author_id, change))
    is_known, refused, version, change_id, at = fetch_one(alias, SET, values)  # type: ignore[misc]  # one row
    if not is_known:
        raise AccountNotFound
    if refused is not None:
        raise PostNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
        return False
    change = replace(change, before=version - 1, after=version)
    announce(alias, author_id, change, AppendedChange(change_id, at))
    return True
