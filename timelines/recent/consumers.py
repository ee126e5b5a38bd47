"""Removes deleted posts from the recent-posts index, so that pulls have fewer rows to skip."""

from collections.abc import Sequence
from functools import partial

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from infra.changes.registry import Delivery, consumes
from infra.sharding.scatter import scatter
from posts.changes import PostDeleted
from posts.ids import PostId
from timelines.recent.actions.index_posts import remove_recent

log = structlog.get_logger()


@consumes(PostDeleted)
def remove_from_recent_index(alias: str, deliveries: Sequence[Delivery[PostDeleted]]) -> None:
    """Removes the posts from every shard that answers.

    It does not wait for the other shards: pages skip a row that stays, until its day is dropped.
    Cost: one statement a shard, in parallel.
    """
    deleted = [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    scatter({shard: partial(_remove, shard, deleted) for shard in settings.SHARD_ALIASES})


def _remove(shard: str, deleted: Sequence[PostId]) -> None:
    try:
        remove_recent(shard, deleted)
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.not_removed", shard=shard, error=str(error))
