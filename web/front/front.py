"""Connections of clients: each request goes to the process that it is for.

What processes answer is copied without a look at it.
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from contextlib import suppress

from web.front.heads import END, BadHead, Head, as_last, parse_head
from web.front.refusals import BAD_REQUEST, UNAVAILABLE, FrontRefusal, refuse
from web.front.routes import Routes, ServerAddress

_PIECE_BYTES = 64 * 1024
# From one request of a connection to the end of the next one's head.
_HEAD_S = 75.0
_CONNECT_S = 1.0
# For the end of an answer, when the client asks another site on the same connection.
_FINISH_S = 30.0
_BROKEN = (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError)


class Front:
    """Serves connections. `routes`: says which process a request is for."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a client, until it or the process behind ends it."""
        connection = _ClientConnection(self._routes, reader, writer)
        try:
            with suppress(*_BROKEN):
                await connection.serve()
        finally:
            connection.close()


class _ClientConnection:
    """`behind`: the web server that has the connection now."""

    def __init__(self, routes: Routes, reader: StreamReader, writer: StreamWriter) -> None:
        self._routes, self._reader, self._writer = routes, reader, writer
        self._behind: _Behind | None = None

    async def serve(self) -> None:
        while True:
            async with asyncio.timeout(_HEAD_S):
                raw = await self._reader.readuntil(END)
            try:
                head = parse_head(raw)
            except BadHead:
                await self._refuse(BAD_REQUEST, None)
                return
            if not await self._pass_on(head):
                return

    def close(self) -> None:
        if self._behind:
            self._behind.close()
        self._writer.close()

    async def _pass_on(self, head: Head) -> bool:
        """Whether another request may follow."""
        route = self._routes.find(head.host)
        if isinstance(route, FrontRefusal):
            await self._refuse(route, head)
            return False
        try:
            if head.is_of_streams:
                await self._stream(head, route.streaming)
                return False
            web = await self._go_behind(route.web)
        except (ConnectionError, TimeoutError):
            await self._refuse(UNAVAILABLE, head)
            return False
        web.write(head.raw)
        if head.length is None:
            await _copy_chunks(self._reader, web)
        else:
            await _copy_bytes(head.length, self._reader, web)
        return True

    async def _go_behind(self, address: ServerAddress) -> StreamWriter:
        """Raises: OSError, TimeoutError if that process takes no connection."""
        if self._behind is None or self._behind.address != address:
            await self._leave()
            self._behind = _Behind(address, *await _connect(address), self._writer)
        return self._behind.writer

    async def _leave(self) -> None:
        """The answers of the process before come first."""
        if self._behind:
            await self._behind.finish()
            self._behind = None

    async def _stream(self, head: Head, address: ServerAddress) -> None:
        await self._leave()
        answers, streams = await _connect(address)
        try:
            streams.write(as_last(head.raw))
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(self._reader, streams, closing=True))
                group.create_task(_copy(answers, self._writer, closing=True))
        finally:
            streams.close()

    async def _refuse(self, refusal: FrontRefusal, head: Head | None) -> None:
        with suppress(*_BROKEN):
            await self._leave()
        await refuse(refusal, self._reader, self._writer, head)


class _Behind:
    """A connection to a web server, whose answers go to the client."""

    def __init__(
        self,
        address: ServerAddress,
        answers: StreamReader,
        writer: StreamWriter,
        client: StreamWriter,
    ) -> None:
        self.address, self.writer, self._client = address, writer, client
        self._is_last = True
        self._answering = asyncio.create_task(self._answer(answers))

    async def finish(self) -> None:
        """Waits for the answers; the client's connection stays. Raises: TimeoutError."""
        self._is_last = False
        self.writer.write_eof()
        try:
            async with asyncio.timeout(_FINISH_S):
                await self._answering
        finally:
            self.close()

    def close(self) -> None:
        self._answering.cancel()
        self.writer.close()

    async def _answer(self, answers: StreamReader) -> None:
        await _copy(answers, self._client, closing=False)
        if self._is_last:
            self._client.close()


async def _connect(address: ServerAddress) -> tuple[StreamReader, StreamWriter]:
    async with asyncio.timeout(_CONNECT_S):
        return await asyncio.open_connection(*address)


async def _copy(reader: StreamReader, writer: StreamWriter, *, closing: bool) -> None:
    """To the end. `closing`: passes it on."""
    with suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    if closing:
        writer.close()


async def _copy_chunks(reader: StreamReader, writer: StreamWriter) -> None:
    """Raises: EOFError, also for what is no chunk."""
    size = 1
    while size:
        line = await reader.readuntil(b"\r\n")
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            raise EOFError from None
        writer.write(line + await reader.readexactly(size + 2))
        await writer.drain()


async def _copy_bytes(count: int, reader: StreamReader, writer: StreamWriter) -> None:
    while count:
        piece = await reader.read(min(count, _PIECE_BYTES))
        if not piece:
            raise EOFError
        writer.write(piece)
        await writer.drain()
        count -= len(piece)
