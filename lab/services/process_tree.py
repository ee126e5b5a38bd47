"""All processes below one, found in /proc; and signals to all of them."""

import os
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals


def process_tree(root: int) -> list[int]:
    """`root` and all processes below it, parents first. Without /proc: only `root`."""
    tree = [root]
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").glob("[0-9]*")}
    for above in tree:  # grows while it is read
        tree += [pid for pid, parent in parents.items() if parent == above]
    return tree


def pause_tree(root: int) -> None:
    """Makes a process and all processes below it hang, as SIGSTOP does."""
    # The first process first: it could start others while they are listed.
    send(root, SIGSTOP)
    for pid in process_tree(root):
        send(pid, SIGSTOP)


def resume_tree(root: int) -> None:
    """Ends a `pause_tree`."""
    for pid in process_tree(root):
        send(pid, SIGCONT)


def kill_tree(root: int) -> None:
    """Ends a process and all processes below it at once, as a power cut would."""
    # Stopped first: when a process ends, its children get another parent and are not found.
    pause_tree(root)
    for pid in reversed(process_tree(root)):
        send(pid, SIGKILL)


def send(pid: int, signal: Signals) -> None:
    """To a process that may have ended by now."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal)


def _parent(entry: Path) -> int:
    """The parent's id from /proc/PID/stat; the name in brackets before it may hold anything."""
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
