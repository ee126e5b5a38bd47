"""Replaces itself by another program that ends when the parent process ends. Run as a script.

    launcher.py PARENT_PID DEATH_SIGNAL UID GID PROGRAM [ARGUMENT ...]     (UID -1: keep the user)

This is a program of its own because a process with threads must not run code between fork and
exec.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    parent, death_signal, uid, gid = map(int, sys.argv[1:5])
    if uid >= 0:
        become(uid, gid)
    # After the change of user: the kernel resets the death signal when credentials change.
    end_with_parent(parent, death_signal)
    os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606 - that is its purpose


def end_with_parent(parent: int, death_signal: int) -> None:
    """This process receives the signal when its parent ends (Linux only), also if it is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent process has died")


def become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


if __name__ == "__main__":
    main()
