"""`make bench`: measures on throw-away services, prints, and adds a line to bench/history.jsonl."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.services import private_services

HISTORY = Path(__file__).with_name("history.jsonl")


def main() -> None:
    with private_services() as services:
        os.environ.update(services.environment())
        os.environ |= {"DEVELOPMENT": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ["QUOTA_PER_ACCOUNT"] = os.environ["QUOTA_PER_APPLICATION"] = "1000000000"
        results = _measure()
    line = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}", "commit": _commit()} | results
    with HISTORY.open("a") as history:
        history.write(json.dumps(line) + "\n")
    for name, figures in results.items():
        print(name)
        for figure, value in figures.items():
            print(
                f"  {figure:<24} {value:>14,.2f}"
                if isinstance(value, float)
                else f"  {figure:<24} {value:>14,}"
            )


def _measure() -> dict[str, dict[str, float]]:
    import django  # noqa: PLC0415 - settings read the URLs of services started just now

    django.setup()
    from bench import deliveries, home, world  # noqa: PLC0415

    world.migrate()
    return {"home": home.measure(), "deliveries": deliveries.measure()}


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
