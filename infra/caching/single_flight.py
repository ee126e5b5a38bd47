"""Single-flight: of all threads of a process that miss a key, one loads it."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

# A load that takes longer than this is not waited for.
PATIENCE_S = 5.0


class SingleFlight(Generic[K, V]):
    """Loads under way, by key."""

    def __init__(self) -> None:
        self._under_way: dict[K, Future[Mapping[K, V]]] = {}
        self._lock = threading.Lock()

    def load(self, keys: Sequence[K], load: Callable[[Sequence[K]], Mapping[K, V]]) -> dict[K, V]:
        """What `load` has for these keys; those that others are loading are waited for.

        A load that fails fails for whoever called it; who waited loads for themselves.
        """
        flight: Future[Mapping[K, V]] = Future()
        with self._lock:
            others = {key: f for key in keys if (f := self._under_way.get(key)) is not None}
            mine = [key for key in keys if key not in others]
            self._under_way |= dict.fromkeys(mine, flight)
        found = dict(self._fly(flight, mine, load)) if mine else {}
        for key, other in others.items():
            landed = _wait(other)
            found |= load([key]) if landed is None else _pick(landed, key)
        return found

    def forget(self, keys: Iterable[K]) -> None:
        """These changed: who asks from now on must not be given what was read before."""
        with self._lock:
            for key in keys:
                self._under_way.pop(key, None)

    def forget_all(self) -> None:
        with self._lock:
            self._under_way.clear()

    def _fly(
        self,
        flight: Future[Mapping[K, V]],
        keys: Sequence[K],
        load: Callable[[Sequence[K]], Mapping[K, V]],
    ) -> Mapping[K, V]:
        try:
            found = load(keys)
            flight.set_result(found)
            return found
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._lock:
                for key in keys:
                    if self._under_way.get(key) is flight:
                        del self._under_way[key]


def _wait(flight: Future[Mapping[K, V]]) -> Mapping[K, V] | None:
    """None when it failed or takes too long."""
    try:
        return flight.result(PATIENCE_S)
    except BaseException:
        return None


def _pick(found: Mapping[K, V], key: K) -> dict[K, V]:
    return {key: found[key]} if key in found else {}
