"""Reads the bodies of requests in the event loop, so that a slow client holds no thread.

A body has a limit of size and of time. The number of unfinished bodies has a limit for each
address, and one for all together.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterable, Callable
from concurrent import futures
from typing import Any, NamedTuple

from web.serving.pending_request import PendingRequest
from web.serving.refusals import (
    BODY_MALFORMED,
    BODY_TOO_LARGE,
    BODY_TOO_SLOW,
    TOO_MANY_BODIES,
    TOO_MANY_OF_ADDRESS,
    Refusal,
)

# Each piece of a chunked body costs the event loop 20-45 us. Clients send pieces of 1 kB and more.
MOST_PIECES = 20_000


class BodyLimits(NamedTuple):
    """`size_bytes`, `time_s`: of one body. `most`: how many may be unfinished at a time.

    `of_address`: the same for one address.
    """

    size_bytes: int
    time_s: float
    most: int = 1024
    of_address: int = 16


class BodyReader:
    """`finish` gets each request whose body is complete, in the event loop. Thread-safe."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        finish: Callable[[PendingRequest], None],
        limits: BodyLimits,
    ) -> None:
        self._loop = loop
        self._finish = finish
        self._limits = limits
        self._lock = threading.Lock()
        self._unfinished: dict[Any, PendingRequest] = {}
        self._of_address: Counter[str] = Counter()

    def read(self, request: PendingRequest) -> None:
        """Only Granian's thread may call it: that thread also completes Granian's futures."""
        refusal = self._check_length(request) or self._add_to_address(request.address)
        if refusal:
            refusal.answer(request)
            return
        future = self._start(request)
        with self._lock:
            self._unfinished[future] = request
        future.add_done_callback(self._end)

    def sweep(self) -> None:
        """Refuses the bodies that take too long. Only the event loop may call it."""
        latest = time.monotonic() - self._limits.time_s
        with self._lock:
            late = [
                (f, request) for f, request in self._unfinished.items() if request.since < latest
            ]
        for future, request in late:
            BODY_TOO_SLOW.answer(request)
            # Granian closes the connection when it no longer reads the body.
            future.cancel()

    def _start(self, request: PendingRequest) -> Any:
        """A future of the whole body."""
        if not request.is_chunked:
            return request.protocol()
        pieces = read_pieces(request.protocol, self._limits.size_bytes)
        return asyncio.run_coroutine_threadsafe(pieces, self._loop)

    def _check_length(self, request: PendingRequest) -> Refusal | None:
        """Granian reads exactly as many bytes as the header says, so this bounds the memory.

        A chunked body has no length. `read_pieces` counts its bytes.
        """
        if request.is_chunked:
            return None
        length = int(request.scope.headers["content-length"])
        return BODY_TOO_LARGE if length > self._limits.size_bytes else None

    def _add_to_address(self, address: str) -> Refusal | None:
        with self._lock:
            if len(self._unfinished) >= self._limits.most:
                return TOO_MANY_BODIES
            if self._of_address[address] >= self._limits.of_address:
                return TOO_MANY_OF_ADDRESS
            self._of_address[address] += 1
            return None

    def _end(self, future: Any) -> None:
        with self._lock:
            request = self._unfinished.pop(future)
            self._of_address[request.address] -= 1
            if not self._of_address[request.address]:
                del self._of_address[request.address]
        try:
            body = future.result()
        except (RuntimeError, asyncio.CancelledError, futures.CancelledError):
            return  # the client has gone, or `sweep` refused the body
        if isinstance(body, Refusal):
            body.answer(request)
            return
        request.body, request.since = body, time.monotonic()
        self._finish(request)


async def read_pieces(pieces: AsyncIterable[bytes], most_bytes: int) -> bytes | Refusal:
    """A chunked body, or why it is refused. The rest is not read then.

    Granian says the end of a body by one empty piece. An error of the body or trailers are another
    one: such a body may lack its end. No exception says so, because its traceback would keep the
    connection open.
    """
    body, count, empty_count = bytearray(), 0, 0
    async for piece in pieces:
        body += piece
        count += 1
        empty_count += not piece
        if len(body) > most_bytes or count > MOST_PIECES:
            return BODY_TOO_LARGE
    return bytes(body) if empty_count == 1 else BODY_MALFORMED
