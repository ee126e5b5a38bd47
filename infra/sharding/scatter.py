"""The same question to several shards at once, over a bounded set of threads.

Every shard has threads of its own, so a process holds at most SCATTER_THREADS connections to a
shard beyond those of its request threads, and a shard that hangs keeps nobody else's calls waiting.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

from django.conf import settings
from django.db import connections

T = TypeVar("T")


def scatter(calls: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """Runs one call per database alias and returns the answers by alias.

    The first runs on the caller's own thread, so one shard costs no hand-over. A call must not
    scatter itself: it would wait for a thread while holding one. What it logs names the request.
    Raises: the first failure, after all calls have ended (no query is left running unseen).
    """
    aliases = list(calls)
    if not aliases:
        return {}
    futures = {
        alias: _threads(alias).submit(copy_context().run, _call, alias, calls[alias])
        for alias in aliases[1:]
    }
    try:
        answers = {aliases[0]: calls[aliases[0]]()}
    finally:
        for future in futures.values():
            future.exception()
    return answers | {alias: future.result() for alias, future in futures.items()}


def begin(alias: str, call: Callable[[], object]) -> None:
    """Runs one call on a thread of the alias, and returns at once. The call minds its failures."""
    _threads(alias).submit(_call, alias, call)


def _call(alias: str, call: Callable[[], T]) -> T:
    """Pool threads see no request end, so a broken connection is dropped here."""
    connections[alias].close_if_unusable_or_obsolete()
    return call()


@cache
def _threads(alias: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.SCATTER_THREADS, thread_name_prefix=f"scatter-{alias}")


# A forked process inherits the pools but not their threads: it would wait for ever.
os.register_at_fork(after_in_child=_threads.cache_clear)
