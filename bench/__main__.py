"""`make bench`: runs workloads on temporary services. Prints and appends to bench/history.jsonl."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.services import private_services

HISTORY = Path(__file__).with_name("history.jsonl")
WORKLOADS = ("home", "writes", "deliveries", "pull", "caches", "increments", "linkbench")
# These run only by name: they take long, and peers installs packages.
BY_NAME = ("fan_out", "peers")
CHOICES = WORKLOADS + BY_NAME
NO_LIMITS = {
    "QUOTA_PER_ACCOUNT": "1000000000",
    "QUOTA_PER_APPLICATION": "1000000000",
    "FOLLOWS_PER_DAY": "1000000",
    "DEEP_PAGES_PER_S": "1000000",
}


def main() -> None:
    options = _parse()
    with private_services() as services:
        os.environ.update(services.environment())
        os.environ |= {"DEVELOPMENT": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ |= {"LOG_LEVEL": "WARNING"} | NO_LIMITS
        results = _measure(options.only or WORKLOADS, options.graph)
    line = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}", "commit": _commit()} | results
    with HISTORY.open("a") as history:
        history.write(json.dumps(line) + "\n")
    for name, figures in results.items():
        print(name)
        _show(figures, "  ")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=CHOICES, action="append", help="may be repeated")
    parser.add_argument("--graph", type=Path, help="a graph file for linkbench and writes")
    return parser.parse_args()


def _measure(names: Any, graph: Path | None) -> dict[str, dict[str, Any]]:
    import django  # noqa: PLC0415 - settings read the URLs of services started just now

    django.setup()
    from bench import caches, deliveries, fan_out, home, increments, linkbench, pull, world, writes  # noqa: PLC0415
    from bench.peers import measure as peers  # noqa: PLC0415

    world.migrate()
    measures = {
        "home": home.measure,
        "increments": increments.measure,
        "deliveries": deliveries.measure,
        "pull": pull.measure,
        "caches": caches.measure,
        "fan_out": fan_out.measure,
        "peers": peers.measure,
        "linkbench": lambda: linkbench.measure(graph),
        "writes": lambda: writes.measure(graph),
    }
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


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
