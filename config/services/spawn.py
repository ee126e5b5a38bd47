"""Starting child processes that die with this one, even when it is killed with -9."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from signal import SIGKILL, Signals
from typing import IO

from config.services.errors import StartedOffMainThread
from config.services.server_user import ServerUser

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


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
    """Starts `argv` in its own session, writing to the end of `log`, or to our own output.

    The terminal's Ctrl-C does not reach it; the end of this process does, as `death_signal`
    (Linux only). `keep_open` are file descriptors it inherits: an flock among them lives as long
    as the child and its own children. Raises StartedOffMainThread.
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
    """What servers get of our environment: nothing that could change their meaning (PGDATA …)."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}
