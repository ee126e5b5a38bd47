"""The results of earlier runs: a line of JSON for each."""

import json
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HISTORY = Path(__file__).with_name("history.jsonl")


def add_line(results: Mapping[str, Any], path: Path) -> None:
    """Adds the results with the time and the commit."""
    line = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}", "commit": _commit()} | dict(results)
    with path.open("a") as history:
        history.write(json.dumps(line) + "\n")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All lines, oldest first."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
