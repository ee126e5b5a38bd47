"""The operating system user that runs the servers, and the files this user can reach."""

import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.services.errors import NoServerUser

_NAMES = ("postgres", "nobody")
# Asks the kernel as that user. Reading the permission bits would miss ACLs and mount options.
_PROBE = """
import os, sys
uid, gid = map(int, sys.argv[1:3])
os.setgroups([]), os.setgid(gid), os.setuid(uid)
sys.exit(not all(os.access(path, os.X_OK) for path in sys.argv[3:]))
"""


@dataclass(frozen=True)
class ServerUser:
    """`switch`: whether the servers run as another user than this process."""

    name: str
    uid: int
    gid: int
    switch: bool


def server_user() -> ServerUser:
    """The user of this process; for root the first of _NAMES: PostgreSQL refuses root.

    Raises NoServerUser when this process is root and neither user exists.
    """
    if os.getuid() != 0:
        return ServerUser(f"uid {os.getuid()}", os.getuid(), os.getgid(), switch=False)
    for name in _NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(name, entry.pw_uid, entry.pw_gid, switch=True)
    raise NoServerUser


def can_reach(user: ServerUser, paths: Sequence[Path]) -> bool:
    """Whether `user` can enter each folder and run each program. Starts a process when root."""
    if not user.switch:
        return all(os.access(path, os.X_OK) for path in paths)
    who = [str(user.uid), str(user.gid)]
    command = [sys.executable, "-I", "-S", "-c", _PROBE, *who, *map(str, paths)]
    return subprocess.run(command, check=False).returncode == 0
