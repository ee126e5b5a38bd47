"""Finds programs by name, and starts each once before it is chosen.

A name proves little. Some links lead to a program that decides by the name it is started as, some
packages install a script that only asks for another package, and some programs lack a library.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.services.server_user import ServerUser

# A program that does not answer within this time is passed over.
_ANSWER_S = 30.0
_OPTIONS: dict[str, Any] = {
    "check": False,
    "capture_output": True,
    "text": True,
    "errors": "replace",
    "cwd": "/",
    "stdin": subprocess.DEVNULL,
    "timeout": _ANSWER_S,
}


def find_programs(names: Sequence[str], path: str) -> Iterator[Path]:
    """All programs of these names in the folders of `path`, under the names that were found.

    Order: as `names`, then as `path`. Links are not followed.
    """
    for name in names:
        for folder in path.split(os.pathsep):
            if folder and (program := shutil.which(name, path=folder)):
                yield Path(program)


def major_version(
    program: Path,
    printed: str,
    *,
    ask: str = "--version",
    user: ServerUser | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """The major version that a program prints when `user` starts it.

    `printed`: the pattern of that line; its group is the number. 0: the program does not run, or
    is another program. Cost: one process; 30 s when the program hangs.
    """
    try:
        done = subprocess.run([program, ask], env=env, **_OPTIONS, **_as(user))
    except (OSError, subprocess.SubprocessError):
        return 0
    number = None if done.returncode else re.search(printed, done.stdout + done.stderr)
    return int(number[1]) if number else 0


def _as(user: ServerUser | None) -> dict[str, Any]:
    if user is None or not user.switch:
        return {}
    return {"user": user.uid, "group": user.gid, "extra_groups": []}
