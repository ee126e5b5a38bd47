"""One address for the web server and the streaming process of `make run`, as a proxy gives it.

    python -m lab.runner.front PORT WEB_PORT STREAMING_PORT

It reads the heads of requests only: what has a path of streams goes to the streaming process, and
the connection with it; all else, to the web server.
"""

import asyncio
import signal
import sys
from asyncio import StreamReader, StreamWriter
from contextlib import suppress

from lab.runner.port import HOST

STREAMS = b"/api/v1/streaming"
_END = b"\r\n\r\n"
_MOST_HEAD_BYTES = 64 * 1024
_PIECE_BYTES = 64 * 1024


class Front:
    """The ports of both programs."""

    def __init__(self, web: int, streaming: int) -> None:
        self._web, self._streaming = web, streaming

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a client, until it or the program behind ends it."""
        connections = [writer]
        try:
            with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                await self._serve(reader, writer, connections)
        finally:
            for each in connections:
                each.close()

    async def _serve(
        self, reader: StreamReader, writer: StreamWriter, connections: list[StreamWriter]
    ) -> None:
        answers: asyncio.Task[None] | None = None
        try:
            while True:
                head = await reader.readuntil(_END)
                if is_of_streams(head):
                    break
                if answers is None:
                    answering, web = await asyncio.open_connection(HOST, self._web)
                    connections.append(web)
                    answers = asyncio.create_task(_copy(answering, writer))
                web.write(head)
                await _copy_body(head, reader, web)
        finally:
            if answers is not None:
                answers.cancel()
        answering, streams = await asyncio.open_connection(HOST, self._streaming)
        connections.append(streams)
        streams.write(as_last(head))
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(reader, streams))
            group.create_task(_copy(answering, writer))


def is_of_streams(head: bytes) -> bool:
    target = head.split(b" ", 2)[1].partition(b"?")[0]
    return target == STREAMS or target.startswith(STREAMS + b"/")


def as_last(head: bytes) -> bytes:
    """The head of a request after which the client asks for nothing else on the connection."""
    lines = head.removesuffix(_END).split(b"\r\n")
    if any(line.lower().startswith(b"upgrade:") for line in lines):
        return head
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*kept, b"Connection: close"]) + _END


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    """To the end, which it passes on."""
    with suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _copy_body(head: bytes, reader: StreamReader, writer: StreamWriter) -> None:
    fields = dict(_fields(head))
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        size = 1
        while size:
            line = await reader.readuntil(b"\r\n")
            size = int(line.partition(b";")[0], 16)
            writer.write(line + await reader.readexactly(size + 2))
            await writer.drain()
        return
    left = int(fields.get(b"content-length", b"0"))
    while left:
        piece = await reader.read(min(left, _PIECE_BYTES))
        if not piece:
            raise EOFError
        writer.write(piece)
        await writer.drain()
        left -= len(piece)


def _fields(head: bytes) -> list[tuple[bytes, bytes]]:
    lines = head.removesuffix(_END).split(b"\r\n")[1:]
    parts = (line.partition(b":") for line in lines)
    return [(name.strip().lower(), value.strip()) for name, _, value in parts]


async def main(port: int, web: int, streaming: int) -> None:
    """Until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    server = await asyncio.start_server(
        Front(web, streaming).serve, HOST, port, limit=_MOST_HEAD_BYTES
    )
    async with server:
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
