"""Branches that only a race or a fault takes. Each says that it was reached, if anyone observes.

A harness observes its processes and fails when a branch was never reached in a whole run: a branch
that no experiment takes is not tested by them. Off by default: one comparison each.
"""

from collections.abc import Callable

_observe: Callable[[str], None] | None = None


def reached(name: str) -> None:
    """Notes that the process is at this place. `name` is a literal, and used at one place only."""
    if _observe is not None:
        _observe(name)


def observe_reached(observe: Callable[[str], None] | None) -> None:
    """`observe` is called with each name from now on, by any thread. None: no more."""
    global _observe
    _observe = observe
