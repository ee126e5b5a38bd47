"""`make bench`: runs workloads on temporary services. Adds to lab/bench/history.jsonl."""

import argparse
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lab.bench.history import HISTORY, add_line
from lab.runner.programs import other_constants
from lab.services import running_services, throw_away_services

# In this order: calls counts reads that nothing has made warm.
WORKLOADS = (
    "calls",
    "reads",
    "first_reads",
    "cluster",
    "mix",
    "writes",
    "deliveries",
    "pull",
    "caches",
    "increments",
    "linkbench",
)
# These run only by name: they take long, and peers installs packages.
BY_NAME = ("fan_out", "flash_crowd", "streams", "peers")
CHOICES = WORKLOADS + BY_NAME
NO_LIMITS = {
    "QUOTA_PER_ACCOUNT": "1000000000",
    "QUOTA_PER_APPLICATION": "1000000000",
    "FOLLOWS_PER_DAY": "1000000",
    **other_constants(DEEP_PAGES_PER_S=1_000_000),
}


def main() -> None:
    options = _parse()
    start = partial(running_services, durable=False, shard_count=options.shards)
    with throw_away_services(start) as services:
        os.environ.update(services.environment())
        os.environ |= {"DEVELOPMENT": "1"}
        os.environ |= {"LOG_LEVEL": "WARNING"} | NO_LIMITS
        results = _measure(options.only or WORKLOADS, options)
    add_line(results, options.history)
    for name, figures in results.items():
        print(name)
        _show(figures, "  ")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.bench", description=__doc__)
    parser.add_argument("--only", choices=CHOICES, action="append", help="may be repeated")
    parser.add_argument("--graph", type=Path, help="a graph file for linkbench, writes, reads, mix")
    parser.add_argument(
        "--accounts", type=int, default=1_000, help="of reads, first_reads, cluster, mix (1,000)"
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="of reads and mix (15)")
    parser.add_argument("--shards", type=int, default=4, help="PostgreSQL servers for data (4)")
    parser.add_argument("--history", type=Path, default=HISTORY, help="where the line is added")
    return parser.parse_args()


def _measure(names: Any, options: argparse.Namespace) -> dict[str, Mapping[str, Any]]:
    import django  # noqa: PLC0415 - settings read the URLs of services started just now

    django.setup()
    from lab.bench.workloads import workloads  # noqa: PLC0415
    from lab.bench.world import migrate  # noqa: PLC0415

    migrate()
    measures = workloads(options.graph, options.accounts, options.seconds)
    return {name: measures[name]() for name in CHOICES if name in names}


def _show(figures: Mapping[str, Any], indent: str) -> None:
    """Prints a row of figures on one line, and single figures on a line each."""
    for name, value in figures.items():
        if not isinstance(value, dict):
            text = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
            print(f"{indent}{name:<24} {text:>14}")
        elif any(isinstance(inner, dict) for inner in value.values()):
            print(f"{indent}{name}")
            _show(value, indent + "  ")
        else:
            print(f"{indent}{name:<12}", *(f"{k} {v:,}" for k, v in value.items()), sep="  ")


if __name__ == "__main__":
    sys.exit(main())
