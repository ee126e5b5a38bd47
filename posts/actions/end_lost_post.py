"""Removes what other shards derived from a post that its own shard has lost.

A shard that was restored to an earlier moment lacks the posts of the time after. Their responses,
notifications and entries of indexes are on other shards.
"""

from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction

from accounts.actions.lock_account import lock_accounts
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from posts.actions.insert_post import place_of
from posts.changes import PostDeleted
from posts.ids import PostId
from posts.queries.responses import find_live_posts
from posts.types import Target, Visibility


class LostPost(NamedTuple):
    """What a derived row says of a post without a row: its target, tags, mentioned accounts, and
    what it quoted."""

    post_id: PostId
    target: Target | None = None
    visibility: Visibility = Visibility.PUBLIC
    tags: Collection[str] = ()
    mentioned: Collection[int] = ()
    quoted: PostId | None = None


def end_lost_post(lost: LostPost) -> bool:
    """Appends the change of a deleted post, so that the drain ends all that is derived from it.

    False: the post is live, and nothing is done. The author need not have an account any more.
    Safety: idempotent; one transaction on the author's shard. Cost: four statements.
    """
    author_id, moment = lost.post_id.author_id, lost.post_id.moment
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_accounts(alias, [author_id])
        if find_live_posts(alias, [lost.post_id]):
            return False
        counts = read_counts(alias, [author_id], [CounterKind.POSTS])
        # From a version to itself: the author's list of posts did not change.
        version = counts[author_id][CounterKind.POSTS].version
        known = (int(lost.visibility), tuple(lost.tags), tuple(lost.mentioned))
        quoted = place_of(lost.quoted)
        gone = PostDeleted(moment, version, version, lost.target, *known, quoted=quoted)
        append_change(alias, author_id, gone)
    return True
