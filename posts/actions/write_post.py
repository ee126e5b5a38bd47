"""Writes the row of a post, reply or repost with its count and change, in one round trip."""

import time

from accounts.errors import AccountNotFound
from counters.sql import of_account
from infra.changes.append import AppendedChange, announce, columns_of, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostCreated
from posts.ids import SEQUENCES, PostId, second_of
from posts.types import Draft, Kind, PostRow, Target, WrittenPost

CREATE = f"""
SELECT created.*, {of_account("%s")}
FROM posts_create_post({", ".join(["%s"] * 13)}) AS created
"""  # noqa: S608


def write_post(
    author_id: int, draft: Draft, target: Target | None, now_s: float, key: str | None = None
) -> PostId:
    """The id of the new post, or of the earlier one: with the same key, or the same repost.

    Raises: AccountNotFound. Safety: the function locks the account, then reads and writes
    (posts/migrations/0002_write_functions.py).
    """
    alias = shard_of(author_id)
    about = (target.kind, target.author_id, target.moment) if target else (Kind.POST, None, None)
    text = (draft.text, draft.sensitive, draft.spoiler_text, draft.language)
    change = columns_of(author_id, PostCreated(0, 0, 0, target))
    earliest = second_of(now_s) * SEQUENCES
    values = (author_id, author_id, key, earliest, *text, *about, *change)
    row = fetch_one(alias, CREATE, values)
    is_known, moment, _, version, change_id, at, counts = row  # type: ignore[misc]  # it has one row
    if not is_known:
        raise AccountNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
    else:
        created = PostCreated(moment, before=version - 1, after=version, target=target)
        written = WrittenPost(PostRow(author_id, moment, *text, *about), counts, time.monotonic())
        announce(alias, author_id, created, AppendedChange(change_id, at, written))
    return PostId.at(author_id, moment)
