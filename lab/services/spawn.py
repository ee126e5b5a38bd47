"""Starts child processes that end with this one, even after kill -9; and their log files."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from signal import SIGKILL, Signals
from typing import IO

from lab.services.errors import StartedOffMainThread
from lab.services.server_user import ServerUser

_LAUNCHER = str(Path(__file__).parents[2] / "infra/processes/launcher.py")
_TAIL_BYTES = 2_000


def spawn(
    argv: Sequence[str],
    log: Path | None,
    *,
    env: Mapping[str, str],
    user: ServerUser | None = None,
    death_signal: Signals = SIGKILL,
    cwd: Path | str = "/",
    keep_open: Sequence[int] = (),
    stdin: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Starts `argv` in a session of its own. It appends to `log`, or writes to our own output.

    Ctrl-C in the terminal does not reach the child. When this process ends, the child receives
    `death_signal` (Linux only). `keep_open`: file descriptors that the child inherits. A file lock
    among them lasts as long as the child and the child's own children. Raises StartedOffMainThread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise StartedOffMainThread
    uid, gid = (user.uid, user.gid) if user and user.switch else (-1, -1)
    before = [str(os.getpid()), str(int(death_signal)), str(uid), str(gid)]
    with log.open("ab") if log else nullcontext() as output:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", _LAUNCHER, *before, *argv],
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT if log else None,
            start_new_session=True,
            pass_fds=keep_open,
            env=env,
            cwd=cwd,
        )


def server_environment() -> dict[str, str]:
    """The environment of a server: without variables such as PGDATA that would configure it."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def log_tail(log: Path) -> str:
    """The last 2,000 bytes of a log file; empty when there is no file."""
    try:
        return log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


def rotate_logs(logs: Path) -> None:
    """Renames all log files, so that each run writes new files and keeps those of the last run."""
    for log in logs.glob("*.log"):
        log.replace(log.with_suffix(".log.1"))
