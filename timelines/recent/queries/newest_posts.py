"""The newest posts of all authors, as the recent-posts index of one or of all shards has them."""

import random
from functools import partial

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import owned_condition
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import MAX_SECOND, SEQUENCES, PostId
from timelines.recent.low_water_mark import has_own_only
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
    WHERE moment >= step.lower AND moment < step.upper AND shown_author IS NULL AND {{owned}}
        AND moment / {SEQUENCES} >= step.lower / {SEQUENCES}
        AND moment / {SEQUENCES} < step.upper / {SEQUENCES}
    ORDER BY moment / {SEQUENCES} DESC, author_id DESC, moment DESC LIMIT %s
) AS post LIMIT %s
"""  # noqa: S608
log = structlog.get_logger()


def read_any_shard(count: int, now: int) -> dict[PostId, int]:
    """The newest posts, and when each became visible (ms), from a random shard, or the next one
    when it does not answer. While workers of `by_author` write, from all shards.

    Raises: OperationalError, InterfaceError when none answers. Cost: two queries.
    """
    aliases = shard_aliases()
    first = random.randrange(len(aliases))
    *others, last = [*aliases[first:], *aliases[:first]]
    for alias in others:
        try:
            return _read_or_all(alias, count, now)
        except (OperationalError, InterfaceError) as error:
            log.warning("recent_posts.shard_skipped", shard=alias, error=str(error))
    return _read_or_all(last, count, now)


def _read_or_all(alias: str, count: int, now: int) -> dict[PostId, int]:
    is_whole = not has_own_only(alias)
    return read_index(alias, count, now) if is_whole else read_all_shards(count, now)


def read_index(alias: str, count: int, now: int, owned: str = "true") -> dict[PostId, int]:
    """The newest rows of a shard's index. `owned`: a condition on their author. One query."""
    steps = steps_down(0, (MAX_SECOND + 1) * SEQUENCES, now, ENDS_S)
    lowers, uppers = (list(column) for column in zip(*steps, strict=True))
    rows = fetch_all(alias, NEWEST.format(owned=owned), (lowers, uppers, count, count))
    return {PostId.at(author_id, moment): visible for author_id, moment, visible in rows}


def read_all_shards(count: int, now: int) -> dict[PostId, int]:
    """As `read_any_shard`, from the shards of the authors. Those that do not answer are left out.
    One query a shard, in parallel."""
    calls = {alias: partial(_read_own, alias, count, now) for alias in shard_aliases()}
    parts = scatter_available(calls).values()
    newest = sorted((post for part in parts for post in part.items()), reverse=True)
    return dict(newest[:count])


def _read_own(alias: str, count: int, now: int) -> dict[PostId, int]:
    """Without copies of a move, and rows from the time when the index was replicated."""
    return read_index(alias, count, now, owned_condition(alias, "author_id"))
