"""Public posts of all authors: the newest ones, and those of a range."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId, second_of
from posts.sql import PUBLIC_POSTS
from timelines.recent.factory import recent_index
from timelines.recent.queries.newest_posts import Wanted
from timelines.types import TimeRange

# A range is read in batches: most of its posts may be replies, or not public.
BATCH, MOST_BATCHES = 200, 20
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
    newest = {**recent_index().load_of_all(Wanted(count, _next_moment(clock_s))), **known}
    ids = sorted(_list_kept(newest, known), reverse=True)
    return {post_id: newest[post_id] for post_id in ids}


def iter_public(
    time_range: TimeRange, newest_first: bool, clock_s: Callable[[], float] = time.time
) -> Iterator[list[PostId]]:
    """The public posts of a range in batches, of at most MOST_BATCHES times BATCH posts.

    Raises: OperationalError, InterfaceError when no shard answers. Cost of a batch: as
    `list_newest_public`.
    """
    for _ in range(MOST_BATCHES):
        wanted = Wanted(BATCH, _next_moment(clock_s), time_range, newest_first)
        read = [*recent_index().load_of_all(wanted)]
        yield sorted(_list_kept(read, ()), reverse=newest_first)
        if len(read) < BATCH:
            return
        time_range = time_range.after(read[-1], newest_first)


def _next_moment(clock_s: Callable[[], float]) -> int:
    return (second_of(clock_s()) + 1) * SEQUENCES


def _list_kept(ids: Iterable[PostId], known: Collection[PostId]) -> Iterator[PostId]:
    """Those that are public and not deleted, in no order. `known`: as `list_newest_public`."""
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(_list_public, alias, [i for a in authors for i in by_author[a]], known)
        for alias, authors in group_by_shard(by_author).items()
    }
    return chain.from_iterable(scatter(calls).values())


def _list_public(alias: str, ids: Sequence[PostId], known: Collection[PostId]) -> list[PostId]:
    columns = [i.author_id for i in ids], [i.moment for i in ids]
    try:
        return [PostId.at(*row) for row in fetch_all(alias, PUBLIC_POSTS, columns)]
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.posts_left_out", shard=alias, error=str(error))
        return [post_id for post_id in ids if post_id in known]
