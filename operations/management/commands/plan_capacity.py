"""`manage.py plan_capacity`: what a site of a given size needs."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from operations.capacity.amounts import (
    format_amount,
    parse_amount,
    parse_positive,
    parse_share,
)
from operations.capacity.plan import compute_plan
from operations.capacity.plan_lines import format_plan, monthly_cost
from operations.capacity.site_load import Machines, Prices, SiteLoad
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


class Command(BaseCommand):
    help = "Computes shards, cores, memory, connections and cost of a load, and its first limit."
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
