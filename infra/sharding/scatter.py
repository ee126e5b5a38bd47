"""Calls to several shards at once, on a bounded set of threads.

Every shard has its own threads. So a process has at most SCATTER_THREADS connections to a shard
besides those of its request threads, and a shard that hangs delays no calls to other shards.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import TypeVar, cast

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections

from infra.evidence import note_other_source
from infra.moving import AccountMoving
from infra.sharding.connection_health import give_back_connections
from infra.shared_thread import need_own_thread

T = TypeVar("T")
log = structlog.get_logger()
# Whether an answer lacks what databases have that did not answer (`scatter_available`).
_missing: ContextVar[set[str] | None] = ContextVar("tideline_missing_databases", default=None)


@contextmanager
def noting_missing() -> Iterator[set[str]]:
    """The aliases of the databases that are left out in this block. Empty: none was.

    Safety: a call on a thread of `scatter` writes to the same set.
    """
    missing: set[str] = set()
    token = _missing.set(missing)
    try:
        yield missing
    finally:
        _missing.reset(token)


def note_missing(alias: str) -> None:
    """Outside of `noting_missing` it does nothing."""
    if (missing := _missing.get()) is not None:
        missing.add(alias)


def scatter(calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """The answer of each call, by database alias.

    The first call runs on the caller's thread, so a single shard needs no other thread. A call must
    not use scatter itself: it would hold one thread while it waits for another. Log lines of a call
    have the request's id.
    Raises: the first error, after all calls have ended, so that no query keeps running.
    """
    aliases = list(calls)
    if not aliases:
        return {}
    note_other_source()
    need_own_thread()
    futures = {alias: submit(alias, calls[alias]) for alias in aliases[1:]}
    try:
        answers = {aliases[0]: calls[aliases[0]]()}
    finally:
        for future in futures.values():
            future.exception()
    return answers | {alias: future.result() for alias, future in futures.items()}


def scatter_available(calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """The answers of the databases that answer, by alias; the others are logged and left out.

    `noting_missing` says to the caller which ones: an answer must not look whole.

    For reads that are still of use without a shard, such as a search. Raises: the first error if no
    database answers. Cost: as `scatter`; a wait for a database has the limits of any statement.
    """
    outcomes = scatter({alias: partial(_try, call) for alias, call in calls.items()})
    answers, errors = {}, []
    for alias, (value, error) in outcomes.items():
        if error is None:
            answers[alias] = cast(T, value)
            continue
        note_missing(alias)
        log.warning("scatter.database_left_out", database=alias, error=str(error))
        errors.append(error)
    if errors and not answers:
        raise errors[0]
    return answers


def submit(alias: str, call: Callable[[], T]) -> Future[T]:
    """Starts one call on a thread of this alias. Log lines of the call have the request's id."""
    return _threads(alias).submit(copy_context().run, _call, alias, call)


def begin(alias: str, call: Callable[[], object]) -> None:
    """Starts one call on a thread of this alias and returns. The call handles its own errors."""
    _threads(alias).submit(_call, alias, call)


def _try(call: Callable[[], T]) -> tuple[T | None, OperationalError | InterfaceError | None]:
    try:
        return call(), None
    except AccountMoving:
        raise
    except (OperationalError, InterfaceError) as error:
        return None, error


def _call(alias: str, call: Callable[[], T]) -> T:
    """Looks after the connection: pool threads get no signal when a request begins or ends."""
    connections[alias].close_if_unusable_or_obsolete()
    try:
        return call()
    finally:
        give_back_connections()


@cache
def _threads(alias: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.SCATTER_THREADS, thread_name_prefix=f"scatter-{alias}")


# A forked process inherits the pools without their threads, and would wait for them for ever.
os.register_at_fork(after_in_child=_threads.cache_clear)
