"""Makes replies to deleted posts orphans: they no longer name the post, as in Mastodon."""

from collections.abc import Sequence
from contextlib import suppress

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.errors import AccountNotFound
from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.changes import RepliesLeft, ReplyOrphaned
from posts.ids import PostId
from posts.queries.responses import find_live_among
from posts.types import Kind

# Each costs a transaction on the shard of its author.
MOST_AT_ONCE = 100
REPLIES = """
SELECT responder_id, reply_moment FROM posts_response
WHERE author_id = %s AND moment = %s AND kind = %s AND is_on
    AND (responder_id, reply_moment) > (%s, %s)
ORDER BY responder_id, reply_moment LIMIT %s
"""
ORPHAN = f"""
UPDATE posts_post SET is_orphan = true
WHERE author_id = %s AND moment = %s AND kind = {Kind.REPLY:d} AND deleted_at IS NULL
    AND NOT is_orphan
"""  # noqa: S608


def orphan_replies_of_deleted(replies: Sequence[tuple[PostId, PostId]]) -> None:
    """Orphans new replies, each with the post that it answers, if that post is deleted.

    Safety: idempotent. Cost: one query for each shard of the answered posts.
    """
    live = find_live_among(parent for _, parent in replies)
    for reply, parent in replies:
        if parent not in live:
            _orphan(reply)


def orphan_replies(author_id: int, page: RepliesLeft) -> RepliesLeft | None:
    """Orphans a page of the replies to a deleted post of this author. Returns the next page.

    Safety: idempotent. Cost: one query by index on the author's shard, and a transaction for each
    reply.
    """
    place = (author_id, page.moment, page.of_kind, page.after, page.after_moment)
    rows = fetch_all(shard_of(author_id), REPLIES, (*place, MOST_AT_ONCE))
    for row in rows:
        _orphan(PostId.at(*row))
        failpoint("posts.reply_orphaned")
    if len(rows) == MOST_AT_ONCE:
        return RepliesLeft(page.moment, page.of_kind, *rows[-1])
    return RepliesLeft(page.moment, Kind.CLOSED_REPLY) if page.of_kind == Kind.REPLY else None


def _orphan(reply: PostId) -> None:
    """One transaction on the shard of the reply; none of its counts changes."""
    alias, author_id = shard_of(reply.author_id), reply.author_id
    with suppress(AccountNotFound), transaction.atomic(using=alias):
        lock_account(alias, author_id)
        if execute(alias, ORPHAN, (author_id, reply.moment)):
            # The count stays, but gets a new version: caches and replicas compare versions.
            moved = move_counts(alias, [CountMove(author_id, CounterKind.POSTS, 0)])
            version = moved[author_id, ACCOUNT, CounterKind.POSTS].version
            append_change(alias, author_id, ReplyOrphaned(reply.moment, version - 1, version))
