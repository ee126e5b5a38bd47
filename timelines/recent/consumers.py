"""Takes deleted posts out of the recent-posts index, so that pulls need not step over them."""

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
    """From every shard that answers; a row left behind is passed over by every page until its day
    goes, so no other shard is waited for. Cost: one statement a shard, at once."""
    gone = [PostId.at(one.owner_id, one.payload.moment) for one in deliveries]
    scatter({shard: partial(_remove, shard, gone) for shard in settings.SHARD_ALIASES})


def _remove(shard: str, gone: Sequence[PostId]) -> None:
    try:
        remove_recent(shard, gone)
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.not_removed", shard=shard, error=str(error))
