"""More requests than a server can answer: sent at a fixed rate by clients that do not wait long."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

# As long as a person waits; then the client closes its connection.
CLIENT_S = 1.0


@dataclass
class Flood:
    """Seconds from each request to its answer, by status. `gone`: clients that gave up."""

    port: int
    answers: dict[int, list[float]] = field(default_factory=dict)
    gone: int = 0

    def send(self, request: bytes, per_s: float, seconds: float) -> None:
        """Returns when the last request is answered or given up."""
        asyncio.run(self._send(request, per_s, seconds))

    async def _send(self, request: bytes, per_s: float, seconds: float) -> None:
        started = time.monotonic()
        async with asyncio.TaskGroup() as clients:
            for number in range(round(per_s * seconds)):
                await asyncio.sleep(max(0.0, started + number / per_s - time.monotonic()))
                clients.create_task(self._ask(request))

    async def _ask(self, request: bytes) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(CLIENT_S):
                status = await self._status(request)
        except (TimeoutError, OSError, EOFError):
            self.gone += 1
        else:
            self.answers.setdefault(status, []).append(time.monotonic() - began)

    async def _status(self, request: bytes) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        with contextlib.closing(writer):
            writer.write(request)
            return int((await reader.readexactly(12))[9:])
