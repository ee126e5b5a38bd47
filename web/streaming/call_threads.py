"""Threads for calls that wait for stores, so that the event loop does not."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

from django.db import connections

from infra.sharding.connection_health import drop_broken_connections, give_back_connections

T = TypeVar("T")


class CallThreads:
    """`count` threads. Used in the event loop."""

    def __init__(self, name: str, count: int) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)

    async def call(self, call: Callable[..., T], *arguments: object) -> T:
        """The result of a call, once a thread is free for it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(_call, call, *arguments))

    async def stop(self) -> None:
        """When the calls in progress have ended."""
        all_threads = Barrier(self._count)
        for _ in range(self._count):
            self._threads.submit(_close_connections, all_threads)
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


def _close_connections(all_threads: Barrier) -> None:
    """In each thread once: none takes a second call before all have one."""
    connections.close_all()
    all_threads.wait()


def _call(call: Callable[..., T], *arguments: object) -> T:
    drop_broken_connections()
    try:
        return call(*arguments)
    finally:
        give_back_connections()
