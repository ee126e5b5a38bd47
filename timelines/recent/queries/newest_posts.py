"""Posts of all authors in the recent-posts index of one or of all shards, in either order."""

import random
from functools import partial
from typing import NamedTuple

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import owned_condition
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.ids import SEQUENCES, PostId
from timelines.recent.low_water_mark import find_own_mark, has_own_only
from timelines.recent.pull_steps import steps_down, steps_up
from timelines.types import TimeRange

# All authors together post a lot in an hour, so these steps begin with seconds.
ENDS_S = (10, 60, 600, 3_600, 24 * 3_600)
# Conditions on moments choose the partitions, conditions on seconds the pages inside them (BRIN).
READ = f"""
SELECT post.author_id, post.moment, post.visible_ms
FROM (
    SELECT * FROM unnest(%(lowers)s::bigint[], %(uppers)s::bigint[]) AS one (lower, upper)
    ORDER BY upper {{order}}
) AS step CROSS JOIN LATERAL (
    SELECT author_id, moment, COALESCE(settled, arrival) AS visible_ms FROM timelines_recentpost
    WHERE moment >= step.lower AND moment < step.upper AND shown_author IS NULL AND {{owned}}
        AND moment / {SEQUENCES} >= step.lower / {SEQUENCES}
        AND moment / {SEQUENCES} < step.upper / {SEQUENCES}
        AND (moment / {SEQUENCES}, author_id, moment)
            > (%(above_second)s, %(above_author)s, %(above_moment)s)
        AND (moment / {SEQUENCES}, author_id, moment)
            < (%(below_second)s, %(below_author)s, %(below_moment)s)
    ORDER BY moment / {SEQUENCES} {{order}}, author_id {{order}}, moment {{order}} LIMIT %(count)s
) AS post LIMIT %(count)s
"""  # noqa: S608
log = structlog.get_logger()


class Wanted(NamedTuple):
    """The first `most` posts of a range. `now`: the moment after the current second."""

    most: int
    now: int
    time_range: TimeRange = TimeRange()
    newest_first: bool = True


def read_any_shard(wanted: Wanted) -> dict[PostId, int]:
    """The posts, and when each became visible (ms), from a random shard, or the next one when it
    does not answer. While workers of `by_author` write, from all shards.

    Raises: OperationalError, InterfaceError when none answers. Cost: two queries.
    """
    aliases = shard_aliases()
    first = random.randrange(len(aliases))
    *others, last = [*aliases[first:], *aliases[:first]]
    for alias in others:
        try:
            return _read_or_all(alias, wanted)
        except (OperationalError, InterfaceError) as error:
            log.warning("recent_posts.shard_skipped", shard=alias, error=str(error))
    return _read_or_all(last, wanted)


def _read_or_all(alias: str, wanted: Wanted) -> dict[PostId, int]:
    is_whole = not has_own_only(alias)
    return read_index(alias, wanted) if is_whole else read_all_shards(wanted)


def read_index(alias: str, wanted: Wanted, owned: str = "true") -> dict[PostId, int]:
    """The rows of a shard's index. `owned`: a condition on their author. One query."""
    above, below = wanted.time_range
    lower, upper = above.second * SEQUENCES, (below.second + 1) * SEQUENCES
    if wanted.newest_first:
        order, steps = "DESC", steps_down(lower, upper, wanted.now, ENDS_S)
    else:
        order, steps = "ASC", steps_up(lower, upper, ENDS_S)
    lowers, uppers = (list(column) for column in zip(*steps, strict=True))
    params = {
        "lowers": lowers,
        "uppers": uppers,
        "count": wanted.most,
        "above_second": above.second,
        "above_author": above.author_id,
        "above_moment": above.moment,
        "below_second": below.second,
        "below_author": below.author_id,
        "below_moment": below.moment,
    }
    rows = fetch_all(alias, READ.format(owned=owned, order=order), params)
    return {PostId.at(author_id, moment): visible for author_id, moment, visible in rows}


def read_all_shards(wanted: Wanted) -> dict[PostId, int]:
    """As `read_any_shard`, from the shards of the authors. Those that do not answer are left out.
    One query a shard, in parallel."""
    calls = {alias: partial(_read_own, alias, wanted) for alias in shard_aliases()}
    parts = scatter_available(calls).values()
    posts = (post for part in parts for post in part.items())
    return dict(sorted(posts, reverse=wanted.newest_first)[: wanted.most])


def _read_own(alias: str, wanted: Wanted) -> dict[PostId, int]:
    """Without copies of a move, and rows from the time when the index was replicated."""
    return read_index(alias, wanted, owned_condition(alias, "author_id"))


def find_reach() -> int:
    """The second from which on the index of every shard that answers is complete; 0 if none says.
    One query a shard, in parallel."""
    marks = scatter_available({alias: partial(find_own_mark, alias) for alias in shard_aliases()})
    return max((mark for mark in marks.values() if mark is not None), default=0)
