"""`manage.py plan_capacity`: what a site of a given size needs."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from infra.verbs import DocumentedCommand
from operations.capacity.plan import Machines, Prices, SiteLoad, compute_plan
from operations.capacity.plan_lines import (
    format_amount,
    format_plan,
    monthly_cost,
    parse_amount,
    parse_positive,
    parse_share,
)
from operations.capacity.walls import list_walls

_Flags = dict[str, tuple[Callable[[str], float], float, str]]
_LOAD: _Flags = {
    "accounts": (parse_positive, 1e6, "accounts in all"),
    "active-share": (parse_share, 0.5, "of them read within TIMELINE_LIVE_DAYS"),
    "followees": (parse_amount, 500, "that one account follows, on average"),
    "posts-per-account": (parse_amount, 1_000, "stored posts of one account, on average"),
    "first-share": (parse_share, 0.9, "of the pages meet a process that does not know the reader"),
    "away-share": (parse_share, 0.005, "of the pages build a timeline again"),
}
# Of one account. A site of 100 M accounts has 100,000 pages and 10,000 posts a second at its peak.
_RATES: dict[str, tuple[float, str]] = {
    "reads": (1e-3, "pages a second, at the peak like all rates"),
    "posts": (1e-4, "posts a second"),
    "favourites": (1e-4, "favourites a second"),
    "follows": (3e-5, "follows a second"),
}
_MACHINES: _Flags = {
    "shard-tb": (parse_positive, 1.0, "data that one shard may have"),
    "shard-cores": (parse_positive, 16, "cores of one PostgreSQL server"),
    "redis-gb": (parse_positive, 32, "memory of one Redis node"),
    "busy-share": (parse_share, 0.6, "how busy a core may be"),
    "connections": (parse_positive, 300, "connections that one PostgreSQL server accepts"),
}
_PRICES: _Flags = {
    "core-price": (parse_amount, 15.0, "of one core for a month"),
    "memory-price": (parse_amount, 2.0, "of one GB of memory for a month"),
    "disk-price": (parse_amount, 0.1, "of one GB of disk for a month"),
}


class Command(DocumentedCommand):
    """Computes shards, cores, memory, connections and cost of a load, and its first limit.

    **When**: before you order machines, and when a limit of [`shards show`](#shards-show) comes
    near. It computes from [measured costs](../../explanation/performance.md) what a site needs at
    its busiest hour: shards, cores, processes, memory, disk, connections and log, and what the
    servers cost. It lists the limits that more machines of the same kind do not move, the nearest
    first, with the multiple of the load that reaches each. It reads the settings
    `CHANGE_REPLAY_DAYS`, `RECENT_DAYS` and `RECENT_INDEX`, and no database.
    **Costs**: nothing.

    The rates follow the accounts unless they are given. By default a site of 100 M accounts has
    100,000 pages and 10,000 posts a second at its peak, and a smaller one its share of that. Three
    sizes, with `RECENT_INDEX=by_author`, `--pool-size 100` and the example prices:

    | `--accounts` | shards | cores | web processes | memory | disk | a month |
    |---|---|---|---|---|---|---|
    | `20k` | 1 | 1 | 1 | 5.4 GB | 19.5 GB | 29.7 |
    | `1M` | 1 | 7 | 4 | 148 GB | 973 GB | 596 |
    | `100M` | 98 | 609 | 309 | 14.6 TB | 97.3 TB | 57,800 |

    Numbers may end in k, M, G or T. `--help` lists all flags with their defaults: `--accounts`,
    `--active-share`, `--followees`, `--posts-per-account`, the rates `--reads`, `--posts`,
    `--favourites` and `--follows`, the machines (`--shard-tb`, `--shard-cores`, `--redis-gb`,
    `--connections`, `--threads`, `--busy-share`), and the prices `--core-price`, `--memory-price`
    and `--disk-price`, which are examples: set yours. `--shards` and `--web-processes` ask about
    this number of them. `--pool-size` counts the sessions that
    [pools](../../how-to/use-a-pooler.md) open to one shard, all together. `--first-share` is the
    share of pages that meet a process which does not know the reader; with many processes nearly
    all do. `--json` prints one object.

    ```
    $ manage.py plan_capacity --accounts 10M
    shards       11, each with a standby, and the default database
    cores        62, each busy for 60%
    busy cores   web 18.5, workers 6.2, PostgreSQL 8.4, Redis 3.9
    processes    31 of the web, 11 workers
    memory       1.56TB; in Redis 87.3GB on 7 nodes, each with a replica
    disk         10.5TB, without standbys
    connections  up to 592 to each shard: 434 of web servers, 158 of workers and commands
    log          1.0 MB/s of each shard
    cost         6.15k a month, 0.0012 for each active account; a core 15, a GB of memory 2, of disk 0.1
    not counted  images, traffic, mails, logs, backups, people

    limits, nearest first                      used    limit  reached at
    connections of one shard                    592      300  0.507 x this load
    size of one shard, TB                     0.955        1  1.05 x this load
    recent-posts index on each shard, TB     0.0781      0.1  1.28 x this load
    cores of one shard                         1.27       16  12.6 x this load
    default database, GB                         25       1k  40 x this load
    log of one shard, MB/s                    0.985       50  50.8 x this load
    Redis nodes                                  14       1k  71.4 x this load
    accounts of one bucket                      610     100k  164 x this load

    connections of one shard is passed: a pool in front of each PostgreSQL server
    ```

    The plan is as good as its constants, which come from one machine with two cores. Measure yours
    with `lab.bench`, and compare the bare view.
    """  # noqa: E501

    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name, (parse, default, text) in (_LOAD | _MACHINES | _PRICES).items():
            parser.add_argument(
                f"--{name}", type=parse, default=default, help=f"{text} (%(default)s)"
            )
        for name, (each, text) in _RATES.items():
            of_million = f"{format_amount(each * 1e6)} for each million accounts"
            parser.add_argument(f"--{name}", type=parse_amount, help=f"{text} ({of_million})")
        parser.add_argument("--threads", type=int, default=4, help="of a web process (%(default)s)")
        parser.add_argument("--shards", type=int, help="this many instead of as many as needed")
        parser.add_argument(
            "--web-processes", type=int, help="this many instead of as many as needed"
        )
        parser.add_argument(
            "--pool-size",
            type=int,
            default=0,
            help="sessions that all pools together open to one shard; 0: no pools (%(default)s)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        load, machines, prices = _inputs(options)
        plan = compute_plan(load, machines, options["shards"], options["web_processes"])
        walls = list_walls(load, plan, machines)
        if options["json"]:
            cost = monthly_cost(plan, machines, prices)
            plans = plan._asdict() | {"cpu": plan.cpu._asdict(), "cost": cost}
            plans["connections_per_shard"] = plan.connections_per_shard
            self.stdout.write(json.dumps(plans | {"walls": [wall._asdict() for wall in walls]}))
            return
        self.stdout.write("\n".join(format_plan(load, plan, machines, prices, walls)))


def _inputs(options: dict[str, Any]) -> tuple[SiteLoad, Machines, Prices]:
    """Raises CommandError for what argparse cannot see."""
    for name in ("threads", "shards", "web-processes"):
        number = options[_key(name)]
        if number is not None and not 1 <= number <= 10_000:
            raise CommandError(f"--{name} is not between 1 and 10,000")
    if not 0 <= options["pool_size"] <= 10_000:
        raise CommandError("--pool-size is not between 0 and 10,000")
    if not options["busy_share"]:
        raise CommandError("--busy-share must be above 0")
    if options["away_share"] > options["first_share"]:
        raise CommandError("--away-share is a part of --first-share, and cannot be larger")
    load = SiteLoad(**{_key(name): options[_key(name)] for name in _LOAD}, **_rates(options))
    machines = Machines(
        **{_key(name): options[_key(name)] for name in _MACHINES},
        web_threads=options["threads"],
        scatter_threads=settings.SCATTER_THREADS,
        pool_size=options["pool_size"],
    )
    return (
        load,
        machines,
        Prices(options["core_price"], options["memory_price"], options["disk_price"]),
    )


def _rates(options: dict[str, Any]) -> dict[str, float]:
    """Those that were given; the others follow the accounts."""
    return {
        name: options["accounts"] * each if options[name] is None else options[name]
        for name, (each, _) in _RATES.items()
    }


def _key(flag: str) -> str:
    return flag.replace("-", "_")
