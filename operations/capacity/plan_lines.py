"""A plan as lines for a terminal.

Numbers as people type and read them: 100M, 2.5k.
"""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence

from operations.capacity.plan import Machines, Plan, Prices, SiteLoad
from operations.capacity.walls import Wall

_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse_amount(text: str) -> float:
    """A number that is not negative, with or without one of k, M, G and T. For argparse."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1.0)
    try:
        amount = float(number) * unit
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number like 250, 2.5k or 100M") from None
    # "nan" and "inf" are numbers for Python.
    if not 0 <= amount <= 1e15:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1,000T")
    return amount


def parse_share(text: str) -> float:
    """A number from 0 to 1. For argparse."""
    share = parse_amount(text)
    if share > 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return share


def parse_positive(text: str) -> float:
    """As `parse_amount`, without zero. For argparse."""
    amount = parse_amount(text)
    if not amount:
        raise ArgumentTypeError(f"{text!r} is not above 0")
    return amount


def format_amount(amount: float) -> str:
    """At most three digits that count: 100M, 2.5k, 364, 0.37."""
    for unit, factor in reversed(_UNITS.items()):
        if amount >= 0.9995 * factor:
            return f"{amount / factor:.3g}{unit}"
    return f"{amount:.3g}" if amount < 999.5 else "1k"


def monthly_cost(plan: Plan, machines: Machines, prices: Prices) -> float:
    """Servers only. Disk counts twice: each shard has a standby."""
    return (
        plan.cores(machines) * prices.core
        + plan.memory_gb(machines) * prices.memory_gb
        + 2 * plan.disk_tb * 1_000 * prices.disk_gb
    )


def format_plan(
    load: SiteLoad, plan: Plan, machines: Machines, prices: Prices, walls: Sequence[Wall]
) -> Iterator[str]:
    yield from _needs(plan, machines)
    cost = monthly_cost(plan, machines, prices)
    active = load.active_accounts
    per_active = f", {cost / active:.4f} for each active account" if active else ""
    yield (
        f"cost         {format_amount(cost)} a month{per_active}; a core {prices.core:g},"
        f" a GB of memory {prices.memory_gb:g}, of disk {prices.disk_gb:g}"
    )
    yield "not counted  images, traffic, mails, logs, backups, people"
    yield ""
    yield f"{'limits, nearest first':<38} {'used':>8} {'limit':>8}  reached at"
    yield from (_wall(wall) for wall in walls)
    yield ""
    yield _first_wall(walls[0])


def _needs(plan: Plan, machines: Machines) -> Iterator[str]:
    cpu = plan.cpu
    yield f"shards       {plan.shards}, each with a standby, and the default database"
    yield f"cores        {plan.cores(machines)}, each busy for {machines.busy_share:.0%}"
    yield (
        f"busy cores   web {cpu.web:.1f}, workers {cpu.worker:.1f},"
        f" PostgreSQL {cpu.postgres:.1f}, Redis {cpu.redis:.1f}"
    )
    yield f"processes    {plan.web_processes} of the web, {plan.worker_processes} workers"
    yield (
        f"memory       {format_amount(plan.memory_gb(machines) * 1e9)}B; in Redis"
        f" {format_amount(plan.redis_gb * 1e9)}B on {plan.redis_nodes} nodes, each with a replica"
    )
    yield f"disk         {format_amount(plan.disk_tb * 1e12)}B, without standbys"
    pool = "pools" if machines.pool_size else "web servers"
    yield (
        f"connections  up to {plan.connections_per_shard} to each shard: {plan.web_connections} of"
        f" {pool}, {plan.direct_connections} of workers and commands"
    )
    yield f"log          {plan.wal_mb_per_shard:.1f} MB/s of each shard"


def _wall(wall: Wall) -> str:
    return (
        f"{wall.name:<38} {format_amount(wall.used):>8} {format_amount(wall.limit):>8}"
        f"  {_multiple(wall)}"
    )


def _multiple(wall: Wall) -> str:
    return f"{format_amount(1 / wall.used_share)} x this load" if wall.used else "never"


def _first_wall(wall: Wall) -> str:
    state = "is passed" if wall.used_share > 1 else "comes first"
    return f"{wall.name} {state}: {wall.remedy}"
