"""python -m lab.bench.wal: bytes of write-ahead log for a post, a follow and a favourite.

Servers with the settings of `make run`, and with others. A write counts with all that its delivery
writes, in all databases. `first`: writes right after a checkpoint, which log whole pages. `later`:
many writes without a checkpoint in between. With milliseconds of the write, without delivery.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from lab.services import running_services, throw_away_services

VARIANTS: Mapping[str, Mapping[str, str]] = {
    "as make run": {},
    "wal_compression off": {"wal_compression": "off"},
    "wal_level logical": {"wal_level": "logical", "max_worker_processes": "8"},
}
# What a checkpoint or vacuum writes in between comes by chance.
QUIET = {"checkpoint_timeout": "1d", "max_wal_size": "8GB", "autovacuum": "off"}
ENVIRONMENT = {
    "DEVELOPMENT": "1",
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "LOG_LEVEL": "ERROR",
    "FOLLOWS_PER_DAY": "1000000",
}
ACCOUNTS, POSTS_EACH, FOLLOWEES = 400, 3, 10
FIRST, LATER = 40, 800
IN_CHILD = "--in-child"
Write = Callable[[int], object]


def main() -> None:
    if IN_CHILD in sys.argv:
        print(json.dumps(_measure()))
        return
    for name, settings in VARIANTS.items():
        print(name)
        for write, figures in _measure_on(settings).items():
            print(f"  {write:<10}", figures)


def _measure_on(settings: Mapping[str, str]) -> dict[str, Any]:
    """In another process: settings read the URLs of services once."""
    start = partial(running_services, durable=True, postgres_settings={**settings, **QUIET})
    with throw_away_services(start) as services:
        environment = os.environ | ENVIRONMENT | services.environment()
        argv = [sys.executable, "-m", "lab.bench.wal", IN_CHILD]
        printed = subprocess.check_output(argv, env=environment)
    figures: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return figures


def _measure() -> dict[str, Any]:
    import django  # noqa: PLC0415 - settings read the URLs of services started just now

    django.setup()
    from infra.sharding.shards import all_aliases  # noqa: PLC0415
    from infra.sharding.sql import execute  # noqa: PLC0415
    from lab.bench.world import migrate  # noqa: PLC0415

    migrate()
    figures = {}
    for name, write in _make_writes().items():
        for alias in all_aliases():
            execute(alias, "CHECKPOINT")
        parts = [range(begin, end) for begin, end in pairwise((0, FIRST, FIRST + LATER))]
        figures[name] = dict(zip(("first", "later"), (_cost(write, p) for p in parts), strict=True))
    return figures


def _make_writes() -> dict[str, Write]:
    """What the n-th write of each kind is: by accounts in turn, each of them new."""
    from lab.bench import world  # noqa: PLC0415 - see above
    from posts.actions.create_post import create_post  # noqa: PLC0415
    from posts.actions.mark_post import mark_post  # noqa: PLC0415
    from posts.types import Draft, Kind  # noqa: PLC0415
    from relations.actions.follow import follow  # noqa: PLC0415

    ids = world.make_accounts(ACCOUNTS)
    posts = [create_post(author, Draft(world.TEXT)) for author in ids for _ in range(POSTS_EACH)]
    for step in range(1, FOLLOWEES + 1):
        for n, viewer in enumerate(ids):
            follow(viewer, ids[(n + step) % ACCOUNTS])
    world.drain_all()

    def follow_next(n: int) -> object:
        turn, place = divmod(n, ACCOUNTS)
        return follow(ids[place], ids[(place + 2 * FOLLOWEES + turn) % ACCOUNTS])

    def favourite_next(n: int) -> object:
        turn, place = divmod(n, ACCOUNTS)
        return mark_post(ids[place], posts[(n * 7 + turn) % len(posts)], Kind.FAVOURITE, True)

    return {
        "post": lambda n: create_post(ids[n % ACCOUNTS], Draft(f"{world.TEXT}{n}")),
        "follow": follow_next,
        "favourite": favourite_next,
    }


def _cost(write: Write, numbers: Sequence[int]) -> dict[str, float]:
    """Bytes of log and milliseconds of one write."""
    from lab.bench.world import drain_all  # noqa: PLC0415 - see above

    before, began = _log_bytes(), time.perf_counter()
    for n in numbers:
        write(n)
    took_s = time.perf_counter() - began
    drain_all()
    written = _log_bytes() - before
    return {
        "bytes": round(written / len(numbers)),
        "ms": round(1000 * took_s / len(numbers), 2),
    }


def _log_bytes() -> int:
    """Where the logs of all databases end."""
    from infra.sharding.shards import all_aliases  # noqa: PLC0415 - see above
    from infra.sharding.sql import fetch_one  # noqa: PLC0415

    rows = [fetch_one(a, "SELECT pg_current_wal_insert_lsn() - '0/0'") for a in all_aliases()]
    return sum(int(row[0]) for row in rows if row)


if __name__ == "__main__":
    main()
