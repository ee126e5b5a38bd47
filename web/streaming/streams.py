"""The parts of a streaming process, put together."""

import asyncio

from web.streaming.admission import Admission
from web.streaming.call_threads import CallThreads
from web.streaming.connections import Connections
from web.streaming.directory import Directory
from web.streaming.feed import FeedReaders
from web.streaming.router import Router
from web.streaming.token_watch import TokenWatch

# They wait for databases and Redis: for who comes, and for who comes back; for pages of services;
# and for pages of bulk services, which only delay each other.
ADMISSION_THREADS, SERVICE_THREADS, BULK_THREADS = 8, 4, 1
LONGEST_START_S = 5.0


class Streams:
    """`most`: open connections of this process. Made in the event loop."""

    def __init__(self, most: int) -> None:
        loop, directory = asyncio.get_running_loop(), Directory()
        router = Router(directory, loop)
        self._feeds = FeedReaders(router.give, router.has_taken_all)
        self._router = router
        self.admission = Admission(directory, router, self._feeds)
        self.connections = Connections(most, router, self._feeds)
        self._parts = self._feeds, router, TokenWatch(self.connections.all_open, loop)
        self._admission_threads = CallThreads("admission", ADMISSION_THREADS)
        self.in_thread = self._admission_threads.call
        self.service_threads = CallThreads("services", SERVICE_THREADS)
        self.bulk_threads = CallThreads("bulk", BULK_THREADS)
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
        for threads in (self._admission_threads, self.service_threads, self.bulk_threads):
            await threads.stop()
