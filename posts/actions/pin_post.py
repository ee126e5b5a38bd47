"""Pins posts of their author: one statement on the author's shard."""

import time

from django.conf import settings

from accounts.errors import AccountNotFound
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostMarked
from posts.errors import DirectNotPinnable, PostNotFound, RepostNotPinnable, TooManyPins
from posts.ids import PostId
from posts.types import Kind

# posts/functions.sql: lock, row, count and change in one round trip.
PIN = f"SELECT * FROM posts_pin_post({', '.join(['%s'] * 7)})"  # noqa: S608
REFUSALS = {
    "gone": PostNotFound,
    "repost": RepostNotPinnable,
    "direct": DirectNotPinnable,
    "full": TooManyPins,
}


def pin_post(post_id: PostId) -> bool:
    """Pins a post to the page of its author. False: it was pinned already.

    `mark_post` with Kind.PIN ends the pin; so does deleting the post. Raises: AccountNotFound,
    PostNotFound, RepostNotPinnable, DirectNotPinnable, TooManyPins. Safety: idempotent; the account
    is locked, so two pins at the same time cannot exceed the limit. Cost: one statement.
    """
    author_id, moment = post_id.author_id, post_id.moment
    alias, change = shard_of(author_id), PostMarked(int(Kind.PIN), author_id, moment)
    pin = (author_id, moment, int(time.time() * 1000), settings.MAX_PINNED_POSTS)
    row = fetch_one(alias, PIN, (*pin, *change_columns(author_id, change)))
    is_known, refused, change_id, at = row  # type: ignore[misc]  # a function has one row
    if not is_known:
        raise AccountNotFound
    if refused is not None:
        raise REFUSALS[refused]
    if change_id is not None:
        announce(alias, author_id, change, AppendedChange(change_id, at))
    else:
        finish_interrupted(alias, author_id)
    return change_id is not None
