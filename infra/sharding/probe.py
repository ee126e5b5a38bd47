"""Questions to several stores at once, when each of them may hang.

A probe asks one store once, on a daemon thread with database connections of its own. The caller
waits until a deadline. A probe that hangs keeps its thread until the store answers, so the number
of threads per store is bounded.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import structlog
from django.db import connections

DEADLINE_S = 2.5
MAX_THREADS = 4
T = TypeVar("T")
log = structlog.get_logger()


class ProbeTimeout(TimeoutError):
    """The store did not answer before the deadline. It is down, hangs, or is busy."""


class ProbeAnswer(NamedTuple):
    """The store's answer in `value`, or in `error` why it gave none."""

    store: str
    value: Any = None
    error: Exception | None = None

    @property
    def why(self) -> str:
        """The error in one line; empty if the store answered."""
        return error_line(self.error) if self.error else ""

    @property
    def problem(self) -> str:
        """The error as a sentence for operators; empty if the store answered."""
        return f"{self.store} does not answer: {self.why}" if self.error else ""


def probe_all(
    calls: Mapping[str, Callable[[], Any]], deadline_s: float = DEADLINE_S
) -> dict[str, ProbeAnswer]:
    """The answer of each store, by name. Never raises, and returns after `deadline_s` at most.

    Cost: a thread and new connections for each store. At most MAX_THREADS threads of this process
    wait for one store; while they do, further calls for this store fail at once.
    """
    probes = {name: _start(name, call) for name, call in calls.items()}
    _join(filter(None, probes.values()), deadline_s)
    busy, late = ProbeTimeout("others wait for it already"), f"no answer in {deadline_s:g} s"
    return {
        name: ProbeAnswer(name, error=busy)
        if probe is None
        else probe.answer or ProbeAnswer(name, error=ProbeTimeout(late))
        for name, probe in probes.items()
    }


class CachedProbe(Generic[T]):
    """Answers of several stores, kept for a while. For metrics: a scrape must not wait for a store.

    Threads share it. A store that hangs keeps one thread, however often it is probed.
    """

    def __init__(self, valid_s: float = 3.0, deadline_s: float = 1.0) -> None:
        self._valid_s, self._deadline_s = valid_s, deadline_s
        self._answers: dict[str, tuple[T, float]] = {}
        self._probes: dict[str, _Probe] = {}
        self._starting = threading.Lock()

    def ask(self, calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
        """Answers at most `valid_s` old, by name. A store that hangs or fails is left out.

        Never raises, and returns after `deadline_s` at most.
        """
        oldest_s = time.monotonic() - self._valid_s
        with self._starting:
            probes = [self._find_or_start(name, call) for name, call in calls.items()]
        _join(filter(None, probes), self._deadline_s)
        answers = {name: self._answers.get(name) for name in calls}
        return {
            name: answer[0] for name, answer in answers.items() if answer and answer[1] >= oldest_s
        }

    def _find_or_start(self, name: str, call: Callable[[], T]) -> "_Probe | None":
        """The running probe of this store, or a new one. None: the cached answer is valid."""
        running, answer = self._probes.get(name), self._answers.get(name)
        if running is not None and running.is_alive():
            return running
        if answer and time.monotonic() - answer[1] < self._valid_s:
            return None
        probe = self._probes[name] = _Probe(name, lambda: self._record(name, call))
        probe.start()
        return probe

    def _record(self, name: str, call: Callable[[], T]) -> None:
        try:
            self._answers[name] = call(), time.monotonic()
        except Exception as error:  # the metrics page is shown without this store
            self._answers.pop(name, None)
            log.warning("metrics.store_not_asked", store=name, error=str(error))


def error_line(error: Exception) -> str:
    """The first line of an error's text, or its class name."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class _Probe(threading.Thread):
    """One question to one store. `answer` is None until the store answers or fails."""

    def __init__(self, store: str, call: Callable[[], Any]) -> None:
        super().__init__(name=f"probe-{store}", daemon=True)
        self._store, self._call = store, call
        self.answer: ProbeAnswer | None = None

    def run(self) -> None:
        try:
            self.answer = ProbeAnswer(self._store, self._call())
        except Exception as error:  # the caller decides what the error means
            self.answer = ProbeAnswer(self._store, error=error)
        finally:
            connections.close_all()


_running: defaultdict[str, list[_Probe]] = defaultdict(list)
_starting = threading.Lock()


def _start(name: str, call: Callable[[], Any]) -> _Probe | None:
    """A started probe; None if MAX_THREADS probes of this store are running."""
    with _starting:
        _running[name] = [probe for probe in _running[name] if probe.is_alive()]
        if len(_running[name]) >= MAX_THREADS:
            return None
        probe = _Probe(name, call)
        _running[name].append(probe)
        probe.start()
    return probe


def _join(probes: Iterable[_Probe], deadline_s: float) -> None:
    deadline = time.monotonic() + deadline_s
    for probe in probes:
        probe.join(max(deadline - time.monotonic(), 0))
