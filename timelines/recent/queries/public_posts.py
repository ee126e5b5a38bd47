"""The newest public posts of all authors."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import PUBLIC_POSTS
from timelines.recent.factory import recent_index

log = structlog.get_logger()


def list_newest_public(
    count: int, known: Mapping[PostId, int], clock_s: Callable[[], float] = time.time
) -> dict[PostId, int]:
    """The public posts among the `count` newest posts, newest first, each with the time (ms) when
    it became visible on a shard that was read. Reposts are not counted.

    Posts that are `known` from a list before are there too, with the value they have there, unless
    they were deleted. Replies to other accounts are left out. When a shard is down, the posts of
    its authors are missing unless they are known. Raises: OperationalError, InterfaceError when no
    shard answers. Cost: as the index, then one query on each shard.
    """
    newest = {**recent_index().load_newest(count, (second_of(clock_s()) + 1) * SEQUENCES), **known}
    by_author: dict[int, list[PostId]] = {}
    for post_id in newest:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(_list_public, alias, [i for a in authors for i in by_author[a]], known)
        for alias, authors in group_by_shard(by_author).items()
    }
    ids = sorted((i for part in scatter(calls).values() for i in part), reverse=True)
    return {post_id: newest[post_id] for post_id in ids}


def _list_public(alias: str, ids: Sequence[PostId], known: Collection[PostId]) -> list[PostId]:
    columns = [i.author_id for i in ids], [i.moment for i in ids]
    try:
        return [PostId.at(*row) for row in fetch_all(alias, PUBLIC_POSTS, columns)]
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.posts_left_out", shard=alias, error=str(error))
        return [post_id for post_id in ids if post_id in known]
