"""Single-flight: when several threads of a process miss a key, one of them loads it."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from infra.shared_thread import need_own_thread

K = TypeVar("K")
V = TypeVar("V")

# How long a thread waits for the load of another thread.
PATIENCE_S = 5.0


class SingleFlight(Generic[K, V]):
    """The loads in progress, by key."""

    def __init__(self) -> None:
        self._in_progress: dict[K, Future[Mapping[K, V]]] = {}
        self._lock = threading.Lock()

    def load(self, keys: Sequence[K], load: Callable[[Sequence[K]], Mapping[K, V]]) -> dict[K, V]:
        """The result of `load` for these keys. Keys that another thread loads are waited for.

        A failed load raises in the thread that called it. Threads that waited for it load
        themselves.
        """
        need_own_thread()
        flight: Future[Mapping[K, V]] = Future()
        with self._lock:
            others = {key: f for key in keys if (f := self._in_progress.get(key)) is not None}
            mine = [key for key in keys if key not in others]
            self._in_progress |= dict.fromkeys(mine, flight)
        values = dict(self._run(flight, mine, load)) if mine else {}
        for key, other in others.items():
            loaded = _wait(other)
            values |= load([key]) if loaded is None else _pick(loaded, key)
        return values

    def forget(self, keys: Iterable[K]) -> None:
        """These keys changed: a later call must not join a load that began before the change."""
        with self._lock:
            for key in keys:
                self._in_progress.pop(key, None)

    def forget_all(self) -> None:
        with self._lock:
            self._in_progress.clear()

    def _run(
        self,
        flight: Future[Mapping[K, V]],
        keys: Sequence[K],
        load: Callable[[Sequence[K]], Mapping[K, V]],
    ) -> Mapping[K, V]:
        try:
            values = load(keys)
            flight.set_result(values)
            return values
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._lock:
                for key in keys:
                    if self._in_progress.get(key) is flight:
                        del self._in_progress[key]


def _wait(flight: Future[Mapping[K, V]]) -> Mapping[K, V] | None:
    """None when the load failed or takes too long."""
    try:
        return flight.result(PATIENCE_S)
    except BaseException:
        return None


def _pick(values: Mapping[K, V], key: K) -> dict[K, V]:
    return {key: values[key]} if key in values else {}
