"""Answers that are sent piece by piece while they are made: nothing waits for the whole one."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

import structlog
from django.http import FileResponse, StreamingHttpResponse

from infra.api.errors import TidelineError
from infra.changes.errors import UNREACHABLE
from web.serving.pending_request import PendingRequest

# For the server's thread to take one piece, and for all of them to be made.
PIECE_S, WHOLE_S = 10.0, 600.0
log = structlog.get_logger()


def is_stream(answer: object) -> bool:
    """Whether the application makes this answer while it is sent. A file is there already."""
    return isinstance(answer, StreamingHttpResponse) and not isinstance(answer, FileResponse)


class PieceSender:
    """Sends the pieces of one answer, from a thread that is not the one of `loop`.

    Granian keeps the pieces that the client has not taken. A proxy takes them at once.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        request: PendingRequest,
        head: tuple[int, list[tuple[str, str]]],
    ) -> None:
        self._loop, self._path = loop, request.scope.path
        self._transport = request.protocol.response_stream(*head)
        self._ends_at = time.monotonic() + WHOLE_S

    def send_all(self, pieces: Iterable[bytes]) -> None:
        """Makes and sends the pieces, while the client is there and for WHOLE_S.

        A client cannot see that the end came too early, so the answer must be of a kind that is
        useless without its end.
        """
        try:
            for piece in pieces:
                if not self._is_sent(piece):
                    return
        except (*UNREACHABLE, TidelineError) as error:
            self._log_end(error)

    def _is_sent(self, piece: bytes) -> bool:
        wait_s = min(PIECE_S, self._ends_at - time.monotonic())
        sent = asyncio.run_coroutine_threadsafe(_send(self._transport, piece), self._loop)
        try:
            sent.result(wait_s)
        except (TimeoutError, RuntimeError) as error:  # too late, or the client is gone
            sent.cancel()
            self._log_end(error)
            return False
        return True

    def _log_end(self, error: Exception) -> None:
        log.info("serving.stream_ended_early", path=self._path, error=repr(error))


async def _send(transport: Any, piece: bytes) -> None:
    await transport.send_bytes(piece)
