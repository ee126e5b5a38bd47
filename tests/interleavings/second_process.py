"""Another process whose calls take part in a schedule: it stops at each yield point too.

It has caches, a breaker and an invalidation log of its own. It works on the databases of the test.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, NamedTuple

from django.conf import settings

from tests.interleavings.actors import Session, pause
from tests.other_process import environment_of_this_test

Call = Callable[[], object]


class Stop(NamedTuple):
    """Where a call stopped in the other process. `result`: what it returned, after its end."""

    place: str
    session: Session | None
    gives_way: bool
    has_ended: bool
    error: Exception | None = None
    result: Any = None


class SecondProcess:
    """Starts when it is first used. Calls are pickled: functions of modules, with plain values."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def ask(self, call: Call) -> Any:
        """The result of a call there. An actor stops at each of its yield points. Raises what it
        raises."""
        assert self._connection is not None
        self._connection.send(call)
        while not (stop := self._connection.recv()).has_ended:
            self._let_go_after(stop)
        if stop.error is not None:
            raise stop.error
        return stop.result

    def actor(self, call: Call) -> Call:
        """The call as an actor of a schedule."""
        return partial(self.ask, call)

    def start(self) -> None:
        """It runs."""
        if self._process is None:
            self._connection, theirs = Pipe()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.interleavings.second_main", str(theirs.fileno())],
                env=environment_of_this_test(),
                cwd=settings.BASE_DIR,
                pass_fds=[theirs.fileno()],
            )
            theirs.close()

    def end(self) -> None:
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.wait()
        self._process = self._connection = None

    def _let_go_after(self, stop: Stop) -> None:
        """Waits until the scheduler lets the call go on. Ends it there when the schedule ends."""
        assert self._connection is not None
        may_go = False
        try:
            pause(f"elsewhere, {stop.place}", stop.session, stop.gives_way)
            may_go = True
        finally:
            self._connection.send(may_go)
            if not may_go:
                self._connection.recv()


_SECOND = SecondProcess()


def second_process() -> SecondProcess:
    """The other process of this module of tests."""
    _SECOND.start()
    return _SECOND


@contextmanager
def ending_second_process() -> Iterator[None]:
    yield
    _SECOND.end()
