"""Questions to stores that a scrape must not wait for: asked seldom, in time, or not answered."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import structlog
from django.db import connections

EVERY_S = 3.0
PATIENCE_S = 1.0
T = TypeVar("T")
log = structlog.get_logger()


class Looks(Generic[T]):
    """What each of several stores said last. Shared by threads.

    A store that hangs keeps one thread, not one a scrape; while it does, and when it fails, it is
    absent from the answers.
    """

    def __init__(self, every_s: float = EVERY_S, patience_s: float = PATIENCE_S) -> None:
        self._every_s, self._patience_s = every_s, patience_s
        self._answers: dict[str, tuple[T, float]] = {}
        self._asking: dict[str, threading.Thread] = {}
        self._beginning = threading.Lock()

    def ask(self, calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
        """Answers at most `every_s` old, by name. Returns within `patience_s`; never raises."""
        deadline = time.monotonic() + self._patience_s
        with self._beginning:
            threads = [self._begin(name, call) for name, call in calls.items()]
        for thread in filter(None, threads):
            thread.join(max(deadline - time.monotonic(), 0))
        oldest = deadline - self._patience_s - self._every_s
        answers = {name: self._answers.get(name) for name in calls}
        return {name: found[0] for name, found in answers.items() if found and found[1] >= oldest}

    def _begin(self, name: str, call: Callable[[], T]) -> threading.Thread | None:
        """The thread that asks; None: what is known is new enough."""
        asking, found = self._asking.get(name), self._answers.get(name)
        if asking is not None and asking.is_alive():
            return asking
        if found and time.monotonic() - found[1] < self._every_s:
            return None
        thread = threading.Thread(target=self._ask, args=(name, call), daemon=True)
        self._asking[name] = thread
        thread.start()
        return thread

    def _ask(self, name: str, call: Callable[[], T]) -> None:
        try:
            self._answers[name] = call(), time.monotonic()
        except Exception as error:  # whatever ails it, the page comes without it
            self._answers.pop(name, None)
            log.warning("metrics.store_not_asked", store=name, error=str(error))
        finally:
            connections.close_all()
