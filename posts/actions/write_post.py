"""Writes the row of a post, reply or repost with its count and change, in one round trip."""

from accounts.errors import AccountNotFound
from infra.changes.append import announce, columns_of, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostCreated
from posts.ids import SEQUENCES, PostId, second_of
from posts.types import Draft, Kind, Target

CREATE = f"SELECT * FROM posts_create_post({', '.join(['%s'] * 13)})"  # noqa: S608


def write_post(
    author_id: int, draft: Draft, target: Target | None, now_s: float, key: str | None = None
) -> PostId:
    """The id of the new post, or of the earlier one: with the same key, or the same repost.

    Raises: AccountNotFound. Safety: the function locks the account, then reads and writes
    (posts/migrations/0002_write_functions.py).
    """
    alias, columns = shard_of(author_id), columns_of(author_id, PostCreated(0, 0, 0, target))
    text = (draft.text, draft.sensitive, draft.spoiler_text, draft.language)
    values = (*text, *(target or (Kind.POST, None, None)), *columns)
    earliest = second_of(now_s) * SEQUENCES
    row = fetch_one(alias, CREATE, (author_id, key, earliest, *values))
    is_known, moment, _, version, change_id, at = row  # type: ignore[misc]  # it has one row
    if not is_known:
        raise AccountNotFound
    if change_id is not None:
        created = PostCreated(moment, before=version - 1, after=version, target=target)
        announce(alias, author_id, created, change_id, at)
    else:
        finish_interrupted(alias, author_id)
    return PostId.at(author_id, moment)
