"""Background threads that survive a fork of their process."""

import os
import threading
from abc import ABC, abstractmethod
from weakref import WeakSet


class BackgroundThread(ABC):
    """One daemon thread of this process, started when its work is first needed.

    A forked process inherits no threads. There every instance is reset, so the next `start`
    begins a new thread. Thread-safe.
    """

    name = "background"

    def __init__(self) -> None:
        self.reset()
        _INSTANCES.add(self)

    @abstractmethod
    def run(self) -> None:
        """The work of the thread. It should return soon after `self.stopped` is set."""

    def reset(self) -> None:
        """Forgets the thread and all state that a forked process must not share with its parent.

        A subclass closes its copies of sockets and locks here; the parent keeps its own.
        """
        self.stopped = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread, unless it was started before."""
        if self._thread is None:
            self._start()

    def stop(self) -> None:
        """Asks the thread to end and waits for it."""
        self.stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self.run, name=self.name, daemon=True)
                self._thread.start()


_INSTANCES: "WeakSet[BackgroundThread]" = WeakSet()


def _reset_all() -> None:
    for instance in list(_INSTANCES):
        instance.reset()


os.register_at_fork(after_in_child=_reset_all)
