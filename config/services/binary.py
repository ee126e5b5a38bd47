"""A server program that was found, and how its version is asked."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.services.server_user import ServerUser, can_reach
from config.services.spawn import server_environment


@dataclass(frozen=True)
class Binary:
    """`tree`: the folders that have to move with it; empty for what the machine installed."""

    program: Path
    major: int
    tree: Sequence[Path] = ()

    def is_reachable(self, user: ServerUser) -> bool:
        return can_reach(user, [self.program.parent, self.program])


def major_version(program: Path) -> int:
    """The major version a server says it has; 0 when it does not run."""
    command = [str(program), "--version"]
    try:
        said = subprocess.run(
            command, check=False, capture_output=True, text=True, env=server_environment()
        ).stdout
    except OSError:
        return 0
    # "postgres (PostgreSQL) 15.8 (Debian …)", "Redis server v=7.0.15 …", "Valkey server v=9.1.2 …"
    number = re.search(r"(?:\) |v=)(\d+)", said)
    return int(number[1]) if number else 0
