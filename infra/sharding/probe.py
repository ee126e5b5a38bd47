"""Questions to several stores at once that may hang: answered in time, or not at all."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.db import connections


class ProbeTimeout(TimeoutError):
    """A store did not answer in time. It may be down, hang, or be busy."""


def probe_all(calls: Mapping[str, Callable[[], Any]], patience_s: float) -> dict[str, Any]:
    """Answers by name; what a call raised, or NoAnswer, stands in its place.

    For commands that look at a system with parts of it down. Each call has a thread and connections
    of its own, which a call that hangs keeps to the end of the process: not for requests.
    """
    answers: dict[str, Any] = {}
    threads = [
        threading.Thread(target=_ask, args=(name, call, answers), daemon=True)
        for name, call in calls.items()
    ]
    deadline = time.monotonic() + patience_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    in_time = dict(answers)
    return {
        name: in_time.get(name, ProbeTimeout(f"no answer in {patience_s:g} s")) for name in calls
    }


def error_line(error: Exception) -> str:
    """An error in a line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _ask(name: str, call: Callable[[], Any], answers: dict[str, Any]) -> None:
    try:
        answers[name] = call()
    except Exception as error:  # the caller says what it means
        answers[name] = error
    finally:
        connections.close_all()
