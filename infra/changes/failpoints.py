"""Named places where a test can inject a fault. Off by default: one dictionary look-up each."""

from collections.abc import Callable

from infra.telemetry.reached_branches import reached

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Runs what a test armed here, if anything. It counts as a branch that was reached."""
    reached(name)
    action = _armed.get(name)
    if action is not None:
        action()


def arm(name: str, action: Callable[[], None]) -> None:
    _armed[name] = action


def disarm(name: str) -> None:
    _armed.pop(name, None)
