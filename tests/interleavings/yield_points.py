"""Where actors stop: SQL statements, commits, Redis calls, failpoints, and waits for others.

A pipeline of statements is one step, because its statements are sent together. Calls to several
shards run one after another on the actor's own thread. Time does not pass for an actor that sleeps:
it lets others go first.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache, partial, wraps
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.caching import loading, loads_in_progress, single_flight
from infra.caching.client import Command
from infra.caching.scripts import scripts_by_sha
from infra.caching.single import SingleClient
from infra.changes import failpoints
from infra.sharding import scatter
from infra.sharding.shards import all_aliases
from tests.interleavings.actors import pause, pause_at_failpoint, session_of
from tests.interleavings.outages import during_outages, make_breaker_an_actor

# Of a statement or a script, in a trace.
MOST_CHARACTERS = 60
SLEEPS_A_WAIT = 3
_last = threading.local()


@contextmanager
def yield_points() -> Iterator[None]:
    """Inside the block the threads of actors stop at each point."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SingleClient, "run", _before_call(SingleClient.run))
        patch.setattr(SingleClient, "run_windowed", _before_call(SingleClient.run_windowed))
        patch.setattr(BaseDatabaseWrapper, "_commit", _before_commit(BaseDatabaseWrapper._commit))
        patch.setattr(failpoints, "_armed", _Failpoints())
        patch.setattr(scatter, "_threads", lambda alias: _SameThread())
        patch.setattr(single_flight, "_wait", _wait_for_flight)
        patch.setattr(loads_in_progress, "_wait", _wait_for_load)
        patch.setattr(loading, "time", _Clock())
        # A message by pub/sub comes at no certain step. Without it copies must be right too.
        make_breaker_an_actor(patch)
        yield


def watch_statements() -> None:
    """Makes the connections of this thread stop before each statement."""
    for alias in all_aliases():
        connections[alias].execute_wrappers.append(_before_statement)


def _before_statement(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    connection = context["connection"]
    connection.ensure_connection()
    if _begins_a_step(connection.connection):
        alias = connection.alias
        pause(f"{alias}: {_shorten(sql)}", session_of(alias))
    return execute(sql, params, many, context)


def _begins_a_step(raw: Any) -> bool:
    """False for the later statements of a pipeline."""
    pipeline = raw._pipeline
    is_new = pipeline is None or pipeline is not getattr(_last, "pipeline", None)
    _last.pipeline = pipeline
    return is_new


def _before_commit(commit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(commit)
    def run(connection: BaseDatabaseWrapper) -> Any:
        pause(f"{connection.alias}: COMMIT", session_of(connection.alias))
        return commit(connection)

    return run


def _before_call(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def run(single: SingleClient, commands: Sequence[Command]) -> Any:
        # A windowed call takes its commands while it sends them.
        names = map(_name_of, commands) if isinstance(commands, Sequence) else ("a windowed call",)
        with during_outages():
            pause(f"redis: {', '.join(names)}")
        return call(single, commands)

    return run


def _name_of(command: Command) -> str:
    if command[0] != "EVALSHA":
        return str(command[0])
    body = scripts_by_sha[command[1]].body
    return next((name for name, text in _scripts().items() if body.endswith(text)), "a script")


@cache
def _scripts() -> dict[str, str]:
    """The text of each script by its name. The text of a script ends with its own file."""
    return {path.name: path.read_text() for path in settings.BASE_DIR.rglob("lua/*.lua")}


def _shorten(text: str) -> str:
    return " ".join(text.split())[:MOST_CHARACTERS]


class _Failpoints(dict[str, Callable[[], None]]):
    """Each failpoint is a yield point."""

    def get(self, name: str, default: object = None) -> Any:
        return partial(pause_at_failpoint, name)


class _SameThread:
    """In place of a pool of threads: the caller's thread does the work before it goes on."""

    def submit(self, call: Callable[..., Any], *args: object) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(call(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def _wait_for_flight(flight: Future[Any]) -> Any:
    while not flight.done():
        pause("waits for another thread's load", gives_way=True)
    return None if flight.exception() else flight.result()


def _wait_for_load(ended: threading.Event) -> None:
    while not ended.is_set():
        pause("waits for another thread's load", gives_way=True)


class _Clock:
    """The clock of a loader that waits for another process. A sleep takes a third of its wait."""

    def __init__(self) -> None:
        self._passed_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._passed_s

    def sleep(self, seconds: float) -> None:
        self._passed_s += loading.PATIENCE_S / SLEEPS_A_WAIT
        pause("sleeps", gives_way=True)
