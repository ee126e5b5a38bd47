"""The newest posts of everybody, from whichever shard answers."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import MAX_SECOND, SEQUENCES, PostId, second_of
from timelines.recent.steps import steps_down

# Everybody together posts much in an hour, so these steps begin with seconds.
ENDS_S = (10, 60, 600, 3_600, 24 * 3_600)
# Moments choose the partitions, seconds the pages of them.
NEWEST = f"""
SELECT post.author_id, post.moment
FROM (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS one (lower, upper) ORDER BY upper DESC
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment FROM timelines_recentpost
    WHERE moment >= step.lower AND moment < step.upper AND shown_author IS NULL
        AND moment / {SEQUENCES} >= step.lower / {SEQUENCES}
        AND moment / {SEQUENCES} < step.upper / {SEQUENCES}
    ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC LIMIT %s
) AS post LIMIT %s
"""  # noqa: S608
# As Mastodon's public timeline: replies only to oneself.
LISTED = """
SELECT author_id, moment FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
JOIN posts_post USING (author_id, moment)
WHERE deleted_at IS NULL AND (kind = 0 OR kind = 1 AND target_author = author_id)
"""
log = structlog.get_logger()


def list_newest_public(count: int, clock_s: Callable[[], float] = time.time) -> list[PostId]:
    """Of the `count` newest posts (no reposts), newest first, those no reply to somebody else.

    A shard that is down is asked for nothing: its authors' posts are missing, the others are
    there. Raises: OperationalError, InterfaceError when no shard answers. Cost: one query on any
    shard, one on each.
    """
    found = _ask_any(count, (second_of(clock_s()) + 1) * SEQUENCES)
    by_author: dict[int, list[PostId]] = {}
    for post_id in found:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(_listed, alias, [i for author in authors for i in by_author[author]])
        for alias, authors in group_by_shard(by_author).items()
    }
    return sorted((i for part in scatter(calls).values() for i in part), reverse=True)


def _ask_any(count: int, now: int) -> list[PostId]:
    """From a shard drawn by lot; from the next when it does not answer."""
    first, aliases = random.randrange(len(settings.SHARD_ALIASES)), settings.SHARD_ALIASES
    *others, last = [*aliases[first:], *aliases[:first]]
    for alias in others:
        try:
            return _ask(alias, count, now)
        except (OperationalError, InterfaceError) as error:
            log.warning("recent_posts.shard_passed_over", shard=alias, error=str(error))
    return _ask(last, count, now)


def _ask(alias: str, count: int, now: int) -> list[PostId]:
    steps = steps_down(0, (MAX_SECOND + 1) * SEQUENCES, now, ENDS_S)
    lowers, uppers = (list(column) for column in zip(*steps, strict=True))
    rows = fetch_all(alias, NEWEST, (lowers, uppers, count, count))
    return [PostId.at(*row) for row in rows]


def _listed(alias: str, ids: Sequence[PostId]) -> list[PostId]:
    columns = [i.author_id for i in ids], [i.moment for i in ids]
    try:
        return [PostId.at(*row) for row in fetch_all(alias, LISTED, columns)]
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.posts_left_out", shard=alias, error=str(error))
        return []
