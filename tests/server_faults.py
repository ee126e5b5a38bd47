"""Faults of a real server: it is killed with all of its processes, or it hangs and goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGCONT, SIGKILL, SIGSTOP

from lab.services.process_tree import process_tree, send
from lab.services.server import Server

_STOP_S = 15.0


def kill(server: Server) -> None:
    """Ends the server and all of its processes at once, as a power cut would."""
    if server.is_running:
        # Stopped first: when a process ends, its children get another parent and are not found.
        pause(server)
        for pid in reversed(_tree(server)):
            send(pid, SIGKILL)
        server.process.wait(_STOP_S)


def pause(server: Server) -> None:
    """Makes the server hang: connections stay open and nothing answers."""
    if server.is_running:
        # The first process first: it could start others while they are listed.
        send(server.process.pid, SIGSTOP)
        for pid in _tree(server):
            send(pid, SIGSTOP)


@contextmanager
def hanging(server: Server) -> Iterator[None]:
    """A `pause` that ends with the block."""
    pause(server)
    try:
        yield
    finally:
        resume(server)


def resume(server: Server) -> None:
    """Ends a `pause`; any other server goes on as before."""
    for pid in _tree(server):
        send(pid, SIGCONT)


def _tree(server: Server) -> list[int]:
    return process_tree(server.process.pid) if server.is_running else []
