"""The newest posts of all authors, from any shard that answers."""

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import MAX_SECOND, SEQUENCES, PostId, second_of
from posts.sql import PUBLIC_POSTS
from timelines.recent.pull_steps import steps_down

# All authors together post a lot in an hour, so these steps begin with seconds.
ENDS_S = (10, 60, 600, 3_600, 24 * 3_600)
# Conditions on moments choose the partitions, conditions on seconds the pages inside them (BRIN).
NEWEST = f"""
SELECT post.author_id, post.moment, post.visible_ms
FROM (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS one (lower, upper) ORDER BY upper DESC
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment, COALESCE(settled, arrival) AS visible_ms FROM timelines_recentpost
    WHERE moment >= step.lower AND moment < step.upper AND shown_author IS NULL
        AND moment / {SEQUENCES} >= step.lower / {SEQUENCES}
        AND moment / {SEQUENCES} < step.upper / {SEQUENCES}
    ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC LIMIT %s
) AS post LIMIT %s
"""  # noqa: S608
log = structlog.get_logger()


def list_newest_public(
    count: int, known: Mapping[PostId, int], clock_s: Callable[[], float] = time.time
) -> dict[PostId, int]:
    """The public posts among the `count` newest posts, newest first, each with the time (ms) when
    it became visible on the shard that was read. Reposts are not counted.

    Posts that are `known` from a list before are there too, with the value they have there, unless
    they were deleted. Replies to other accounts are left out. When a shard is down, the posts of
    its authors are missing unless they are known. Raises: OperationalError, InterfaceError when no
    shard answers. Cost: one query on any shard, then one on each.
    """
    newest = {**_read_any_shard(count, (second_of(clock_s()) + 1) * SEQUENCES), **known}
    by_author: dict[int, list[PostId]] = {}
    for post_id in newest:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(_list_public, alias, [i for a in authors for i in by_author[a]], known)
        for alias, authors in group_by_shard(by_author).items()
    }
    ids = sorted((i for part in scatter(calls).values() for i in part), reverse=True)
    return {post_id: newest[post_id] for post_id in ids}


def _read_any_shard(count: int, now: int) -> dict[PostId, int]:
    """Reads a random shard, and the next one when it does not answer."""
    first, aliases = random.randrange(len(settings.SHARD_ALIASES)), settings.SHARD_ALIASES
    *others, last = [*aliases[first:], *aliases[:first]]
    for alias in others:
        try:
            return _read_index(alias, count, now)
        except (OperationalError, InterfaceError) as error:
            log.warning("recent_posts.shard_skipped", shard=alias, error=str(error))
    return _read_index(last, count, now)


def _read_index(alias: str, count: int, now: int) -> dict[PostId, int]:
    steps = steps_down(0, (MAX_SECOND + 1) * SEQUENCES, now, ENDS_S)
    lowers, uppers = (list(column) for column in zip(*steps, strict=True))
    rows = fetch_all(alias, NEWEST, (lowers, uppers, count, count))
    return {PostId.at(author_id, moment): visible for author_id, moment, visible in rows}


def _list_public(alias: str, ids: Sequence[PostId], known: Collection[PostId]) -> list[PostId]:
    columns = [i.author_id for i in ids], [i.moment for i in ids]
    try:
        return [PostId.at(*row) for row in fetch_all(alias, PUBLIC_POSTS, columns)]
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.posts_left_out", shard=alias, error=str(error))
        return [post_id for post_id in ids if post_id in known]
