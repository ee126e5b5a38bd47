"""What posts do with their own changes: keep the cached weeks and the author's counts right."""

import time
from collections.abc import Mapping, Sequence

from counters.cache import refresh_account_counts
from infra.caching.client import Command, redis
from infra.caching.hashes import HashChange
from infra.changes.registry import Delivery, consumes
from posts.cache import (
    WEEKS,
    Week,
    field_of,
    is_too_large,
    put_command,
    size_command,
    week_of,
)
from posts.changes import PostCreated, PostDeleted
from posts.encode import PostRow, encode_post
from posts.ids import PostId
from posts.known import gone_command
from posts.queries.rows import read_posts

Deliveries = Sequence[Delivery[PostCreated | PostDeleted]]


@consumes(PostCreated, PostDeleted, at_once=True)
def refresh_cached_weeks(alias: str, deliveries: Deliveries) -> None:
    """Puts live posts into their author's cached week, takes deleted ones out and tells everybody.

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
    redis().run([gone_command(i, time.time()) for i in ids if i not in live])
    refresh_account_counts(delivery.owner_id for delivery in deliveries)


def _give_up_large(versions: Mapping[Week, int], sizes: Sequence[int]) -> None:
    """Weeks that grew past what is kept become busy ones. One more trip, for those only."""
    large = [week for week, size in zip(versions, sizes, strict=True) if is_too_large(size)]
    redis().run([put_command(week, versions[week], None) for week in large])


def _command(
    post_id: PostId,
    delivery: Delivery[PostCreated | PostDeleted],
    live: Mapping[PostId, PostRow],
) -> Command:
    row, field = live.get(post_id), field_of(post_id)
    added = {field: encode_post(row)} if row else {}
    change = HashChange(
        delivery.payload.before, delivery.payload.after, added, [] if row else [field]
    )
    week = week_of(post_id)
    return WEEKS.change_command(*week, change)
