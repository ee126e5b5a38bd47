"""All processes below one, found in /proc."""

import os
from pathlib import Path
from signal import Signals


def process_tree(root: int) -> list[int]:
    """`root` and all processes below it, parents first. Without /proc: only `root`."""
    tree = [root]
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").glob("[0-9]*")}
    for above in tree:  # grows while it is read
        tree += [pid for pid, parent in parents.items() if parent == above]
    return tree


def send(pid: int, signal: Signals) -> None:
    """To a process that may have ended by now."""
    try:
        os.kill(pid, signal)
    except ProcessLookupError:
        return


def _parent(entry: Path) -> int:
    """The parent's id from /proc/PID/stat; the name in brackets before it may hold anything."""
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
