"""What the front answers itself. The connection ends with it."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple

# For what the client still sends: a closed socket with unread bytes would lose the answer.
_LINGER_S = 1.0
_RETRY_S = 2


class FrontRefusal(NamedTuple):
    """`retry_s`: when to try again; 0: never."""

    status: HTTPStatus
    text: str
    retry_s: int = 0

    def answer(self, with_body: bool) -> bytes:
        body = json.dumps({"error": self.text}).encode()
        lines = [
            f"HTTP/1.1 {self.status} {self.status.phrase}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Cache-Control: no-store",
            "Access-Control-Allow-Origin: *",
            "Connection: close",
        ]
        lines += [f"Retry-After: {self.retry_s}"] if self.retry_s else []
        return "\r\n".join([*lines, "", ""]).encode() + (body if with_body else b"")


BAD_REQUEST = FrontRefusal(HTTPStatus.BAD_REQUEST, "This is no request that can be understood")
UNKNOWN_HOST = FrontRefusal(HTTPStatus.MISDIRECTED_REQUEST, "There is no site of this name here")
SUSPENDED = FrontRefusal(HTTPStatus.FORBIDDEN, "This site is suspended")
UNAVAILABLE = FrontRefusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "Temporarily unavailable, try again later", _RETRY_S
)


async def refuse(
    refusal: FrontRefusal, reader: StreamReader, writer: StreamWriter, method: bytes = b""
) -> None:
    """Sends the answer, and reads on for a moment."""
    writer.write(refusal.answer(with_body=method != b"HEAD"))
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            await writer.drain()
            writer.write_eof()
            while await reader.read(MOST_READ):
                pass


MOST_READ = 64 * 1024
