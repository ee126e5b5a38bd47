"""What the front answers itself. The connection ends with it."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple

from web.front.heads import Head

# For what the client still sends: a closed socket with unread bytes would lose the answer.
_LINGER_S = 1.0
_RETRY_S = 2
_PIECE_BYTES = 64 * 1024


class FrontRefusal(NamedTuple):
    """`retry_s`: when to try again; 0: never."""

    status: HTTPStatus
    text: str
    retry_s: int = 0

    def answer(self, head: Head | None) -> bytes:
        """To the request with this head; None: it was no request."""
        is_page = head is not None and head.is_of_browser
        body = (_page(self.text) if is_page else json.dumps({"error": self.text})).encode()
        lines = [
            f"HTTP/1.1 {self.status} {self.status.phrase}",
            f"Content-Type: {'text/html; charset=utf-8' if is_page else 'application/json'}",
            f"Content-Length: {len(body)}",
            "Cache-Control: no-store",
            "Access-Control-Allow-Origin: *",
            "Connection: close",
        ]
        lines += [f"Retry-After: {self.retry_s}"] if self.retry_s else []
        start = "\r\n".join([*lines, "", ""]).encode()
        return start if head is not None and head.method == b"HEAD" else start + body


def _page(text: str) -> str:
    """The texts are of this module."""
    look = "font: 1.1rem/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 30rem"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<title>{text}</title><body style="{look}; padding: 0 1rem"><h1>{text}</h1>'
    )


BAD_REQUEST = FrontRefusal(HTTPStatus.BAD_REQUEST, "This is no request that can be understood")
UNKNOWN_HOST = FrontRefusal(HTTPStatus.MISDIRECTED_REQUEST, "There is no site of this name here")
SUSPENDED = FrontRefusal(HTTPStatus.FORBIDDEN, "This site is suspended")
UNAVAILABLE = FrontRefusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "Temporarily unavailable, try again later", _RETRY_S
)


async def refuse(
    refusal: FrontRefusal, reader: StreamReader, writer: StreamWriter, head: Head | None
) -> None:
    """Sends the answer, and reads on for a moment. `head`: of the request, if it was one."""
    writer.write(refusal.answer(head))
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            await writer.drain()
            writer.write_eof()
            while await reader.read(_PIECE_BYTES):
                pass
