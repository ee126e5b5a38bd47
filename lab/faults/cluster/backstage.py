"""A resident process that knows the product: python -m lab.faults.cluster.backstage.

It saves the second that Django needs to load. It reaches the stores past the proxy. Standard input
has a JSON object a line, {"do": word, "with": argument}; each is answered by a line of JSON.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import django


def main() -> None:
    django.setup()
    # Models can be imported only after django.setup().
    from lab.faults.cluster import crowd, feed_rows, stream_rows  # noqa: PLC0415
    from lab.faults.cluster.people import make_people  # noqa: PLC0415
    from lab.faults.cluster.spoil_data import spoil  # noqa: PLC0415

    words: dict[str, Callable[[Any], Any]] = {
        "people": make_people,
        "undelivered": _count_undelivered,
        "drainers": _list_drainers,
        "indexed": _count_indexed,
        "spoil": spoil,
        "make_crowd": crowd.make_crowd,
        "count_entries": crowd.count_entries,
        "end_crowd": crowd.end_crowd,
        "created": feed_rows.list_created,
        "age_created": feed_rows.age_created,
        "drop_days": feed_rows.drop_days,
        "stream_posts": stream_rows.list_posts,
        "stream_mentions": stream_rows.list_mentions,
        "more_tokens": stream_rows.make_tokens,
        "revoke": stream_rows.revoke_tokens,
    }
    for line in sys.stdin:
        order = json.loads(line)
        _forget_broken_connections()
        print(json.dumps(words[order["do"]](order["with"])), flush=True)


def _count_undelivered(_: Any) -> dict[str, int]:
    """Changes that are pending, parked and paused in all databases, and unreachable databases."""
    from django.db import DatabaseError, InterfaceError  # noqa: PLC0415

    from infra.changes.lag import list_lane_lags  # noqa: PLC0415
    from infra.sharding.shards import all_aliases  # noqa: PLC0415

    counts: Counter[str] = Counter(pending=0, parked=0, paused=0, unreachable=0)
    for alias in all_aliases():
        try:
            for lag in list_lane_lags(alias):
                counts.update(pending=lag.pending, parked=lag.parked, paused=lag.paused)
        except (DatabaseError, InterfaceError):
            counts["unreachable"] += 1
    return counts


def _list_drainers(_: Any) -> list[int]:
    """Process ids of the drainers that have reported."""
    from infra.changes.running_drainers import list_drainers  # noqa: PLC0415

    return [int(name.rpartition(":")[2]) for name in list_drainers()]


def _count_indexed(numbers: list[int]) -> dict[str, int]:
    """How many of these posts are in the recent-posts index of each shard that has any."""
    from django.conf import settings  # noqa: PLC0415

    from posts.ids import PostId  # noqa: PLC0415
    from timelines.recent.actions.index_posts import count_missing  # noqa: PLC0415
    from timelines.types import Entry  # noqa: PLC0415

    entries = [Entry.of_post(PostId.from_number(number)) for number in {*numbers}]
    counts = {
        alias: len(entries) - count_missing(alias, entries) for alias in settings.SHARD_ALIASES
    }
    return {shard: count for shard, count in counts.items() if count}


def _forget_broken_connections() -> None:
    from django.db import close_old_connections  # noqa: PLC0415

    close_old_connections()


if __name__ == "__main__":
    main()
