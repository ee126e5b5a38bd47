"""Ends the reposts of a post that was deleted: else they would count as posts of their authors."""

from collections.abc import Sequence
from contextlib import suppress

from accounts.errors import AccountNotFound
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions.repost import undo_repost
from posts.ids import PostId
from posts.queries.responses import find_live_among
from posts.types import Kind

# Each costs a statement on the shard of its author.
MOST_AT_ONCE = 100
REPOSTERS = f"""
SELECT responder_id FROM posts_response
WHERE author_id = %s AND moment = %s AND kind = {Kind.REPOST} AND is_on AND responder_id > %s
ORDER BY responder_id LIMIT %s
"""  # noqa: S608


def undo_reposts_of_deleted(reposts: Sequence[tuple[int, PostId]]) -> None:
    """Undoes new reposts, by their author and original, if the original is deleted.

    Safety: idempotent. Cost: one query for each shard of the originals.
    """
    live = find_live_among(original for _, original in reposts)
    for reposter, original in reposts:
        if original not in live:
            _undo(reposter, original)


def end_reposts(post_id: PostId, after: int) -> int | None:
    """Undoes a page of the reposts of a post, by the accounts above this id.

    Returns the last of these accounts if there may be more. Safety: idempotent. Cost: one query by
    index on the author's shard, and one statement for each repost.
    """
    rows = fetch_all(
        shard_of(post_id.author_id),
        REPOSTERS,
        (post_id.author_id, post_id.moment, after, MOST_AT_ONCE),
    )
    for (reposter,) in rows:
        _undo(reposter, post_id)
        failpoint("posts.repost_ended")
    return rows[-1][0] if len(rows) == MOST_AT_ONCE else None


def _undo(reposter: int, original: PostId) -> None:
    with suppress(AccountNotFound):  # it was purged, with all its posts
        undo_repost(reposter, original)
