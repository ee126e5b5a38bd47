"""What posts do with their own changes: caches of those who act, and what others' posts got."""

import time
from collections.abc import Iterator, Mapping, Sequence

from accounts.changes import AccountRestricted
from counters.cache import refresh_account_counts
from infra.caching.client import Command, redis
from infra.caching.hashes import HashChange
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from posts.actions.record_responses import COUNTED, by_shard, record_on_shard
from posts.api.present import encode_post
from posts.cache.counts import refresh_post_counts
from posts.cache.in_process import account_invalidation_command, post_invalidation_command
from posts.cache.viewer_state import refresh_viewer_states
from posts.cache.weeks import (
    WEEKS,
    Week,
    field_of,
    is_too_large,
    size_command,
    week_of,
    write_command,
)
from posts.changes import PostCreated, PostDeleted, PostHidden, PostMarked
from posts.ids import PostId
from posts.queries.responses import read_mark_responses, read_post_responses
from posts.queries.rows import read_posts
from posts.types import Kind, PostRow, Response

Interactions = Sequence[Delivery[PostCreated | PostDeleted | PostMarked]]
Deliveries = Sequence[Delivery[PostCreated | PostDeleted | PostHidden]]


@consumes(PostCreated, PostDeleted, PostHidden, inline=True)
def refresh_cached_weeks(alias: str, deliveries: Deliveries) -> None:
    """Puts live posts into their author's cached week, takes others out and tells everybody.

    Safety: idempotent; what is written is the post as it is now. Cost: two queries, two trips,
    and one for what is gone.
    """
    ids = [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    live = {PostId.at(row.author_id, row.moment): row for row in read_posts(alias, ids)}
    # By week: the latest version that this batch brings it to.
    latest = {week_of(i): d.payload.after for i, d in zip(ids, deliveries, strict=True)}
    changes = [_command(i, d, live) for i, d in zip(ids, deliveries, strict=True)]
    replies = redis().run([*changes, *map(size_command, latest)])
    _give_up_large(latest, replies[len(changes) :])
    # In a round trip of its own: a process that reads the log must find the weeks changed.
    redis().run([post_invalidation_command(i, time.time()) for i in ids if i not in live])
    refresh_account_counts(delivery.owner_id for delivery in deliveries)


def _give_up_large(versions: Mapping[Week, int], sizes: Sequence[int]) -> None:
    """Weeks that grew past what is kept become busy ones. One more trip, for those only."""
    large = [week for week, size in zip(versions, sizes, strict=True) if is_too_large(size)]
    redis().run([write_command(week, versions[week], None) for week in large])


def _command(
    post_id: PostId,
    delivery: Delivery[PostCreated | PostDeleted | PostHidden],
    live: Mapping[PostId, PostRow],
) -> Command:
    row, field = live.get(post_id), field_of(post_id)
    added = {field: encode_post(row)} if row else {}
    change = HashChange(
        delivery.payload.before, delivery.payload.after, added, [] if row else [field]
    )
    week = week_of(post_id)
    return WEEKS.change_command(*week, change)


@consumes(AccountRestricted, inline=True)
def invalidate_restricted_accounts(
    alias: str, deliveries: Sequence[Delivery[AccountRestricted]]
) -> None:
    """All processes hear of it at the next page they build. After the caches were told: consumers
    of lower floors run before. One round trip."""
    accounts = dict.fromkeys(delivery.owner_id for delivery in deliveries)
    redis().run([account_invalidation_command(account_id, time.time()) for account_id in accounts])


@consumes(PostCreated, PostDeleted, PostMarked, inline=True)
def refresh_viewer_states_of(alias: str, deliveries: Interactions) -> None:
    """Who reposted or marked a post sees it so at the next read. Two queries, one round trip."""
    owners = {delivery.owner_id for delivery in deliveries if _is_mark(delivery.payload)}
    if owners:
        refresh_viewer_states(owners)


@consumes(PostCreated, PostDeleted, PostMarked)
def record_responses(alias: str, deliveries: Interactions) -> None:
    """Brings responses and counts of the posts that were replied to, reposted or favourited up to
    the rows of those who did.

    Safety: idempotent and commutative: what is written is the response as it is now, and only
    where its revision is newer. Caches are refreshed even when no row had to change, since an
    earlier run may have died between the two.
    """
    responses = list(_iter_responses(alias, deliveries))
    for target, group in by_shard(responses).items():
        record_on_shard(target, group)
    failpoint("posts.responses_recorded")
    # After all rows: with Redis away the truth at least is everywhere.
    if responses:
        refresh_post_counts({response.post_id for response in responses})


def _is_mark(payload: PostCreated | PostDeleted | PostMarked) -> bool:
    if isinstance(payload, PostMarked):
        return True
    return payload.target is not None and payload.target.kind == Kind.REPOST


def _iter_responses(alias: str, deliveries: Interactions) -> Iterator[Response]:
    """What the deliveries' rows are now. Two queries on the responders' shard."""
    posts, marks = {}, set()
    for owner_id, payload in ((delivery.owner_id, delivery.payload) for delivery in deliveries):
        if isinstance(payload, PostMarked):
            if payload.mark in COUNTED:
                marks.add((owner_id, payload.target_moment, payload.target_author, payload.mark))
        elif payload.target is not None:
            posts[PostId.at(owner_id, payload.moment)] = payload.target
    if posts:
        yield from read_post_responses(alias, list(posts.items()))
    if marks:
        yield from read_mark_responses(alias, marks)
