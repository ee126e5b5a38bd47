"""The parts of a streaming process, put together."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

from django.db import connections

from infra.sharding.connection_health import drop_broken_connections, give_back_connections
from streaming.admission import Admission
from streaming.connections import Connections
from streaming.directory import Directory
from streaming.feed import FeedReaders
from streaming.router import Router
from streaming.token_watch import TokenWatch

T = TypeVar("T")
# They wait for databases and Redis: for who comes, and for who comes back.
ADMISSION_THREADS = 8
LONGEST_START_S = 5.0


class Streams:
    """`most`: open connections of this process. Made in the event loop."""

    def __init__(self, most: int) -> None:
        loop, directory = asyncio.get_running_loop(), Directory()
        router = Router(directory, loop)
        self.admission = Admission(directory, router)
        self.connections = Connections(most, router)
        self._feeds, self._router = FeedReaders(router.give), router
        self._parts = self._feeds, router, TokenWatch(self.connections.all_open, loop)
        self._threads = ThreadPoolExecutor(ADMISSION_THREADS, thread_name_prefix="admission")
        self._loop = loop

    async def start(self) -> None:
        """Until clients may come: the feeds have begun. One that is away is not waited for long."""
        for part in self._parts:
            part.start()
        self.connections.start()
        until = self._loop.time() + LONGEST_START_S
        while not self._have_feeds_begun() and self._loop.time() < until:
            await asyncio.sleep(0.01)

    def _have_feeds_begun(self) -> bool:
        return bool(self._feeds.aliases) and self._feeds.aliases <= self._router.begun

    async def stop(self) -> None:
        """The streams that are still open end without a word."""
        await self.connections.stop()
        for part in self._parts:
            await self._loop.run_in_executor(None, part.stop)
        all_threads = Barrier(ADMISSION_THREADS)
        for _ in range(ADMISSION_THREADS):
            self._threads.submit(_close_connections, all_threads)
        await self._loop.run_in_executor(None, self._threads.shutdown)

    async def in_thread(self, call: Callable[..., T], *arguments: object) -> T:
        """The result of a call that may wait for a store."""
        return await self._loop.run_in_executor(self._threads, partial(_call, call, *arguments))


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
