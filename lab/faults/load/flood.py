"""More requests than a web answers: python -m lab.faults.load.flood PORT TOKEN SECONDS CONNECTIONS.

Each connection sends the next request as soon as the last one is answered. Prints JSON: the answers
by status, and how many refusals say no time to come back.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from contextlib import suppress

from lab.runner.port import HOST

_SOURCE = "127.0.0.2"  # not the address of the load


async def _flood(port: int, token: str, end_s: float, seen: Counter[str]) -> None:
    request = (
        f"GET /api/v1/timelines/home?limit=40 HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()
    while time.monotonic() < end_s:
        with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_connection(HOST, port, local_addr=(_SOURCE, 0))
            try:
                while time.monotonic() < end_s:
                    writer.write(request)
                    await asyncio.wait_for(_read_answer(reader, seen), 10)
            finally:
                writer.close()
        await asyncio.sleep(0.01)


async def _read_answer(reader: asyncio.StreamReader, seen: Counter[str]) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = head.split(b" ", 2)[1].decode()
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
    await reader.readexactly(length)
    seen[status] += 1
    if status == "503" and b"retry-after:" not in head:
        seen["503 without retry-after"] += 1


async def _run(port: int, token: str, seconds: float, connections: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    end_s = time.monotonic() + seconds
    await asyncio.gather(*(_flood(port, token, end_s, seen) for _ in range(connections)))
    return seen


def main() -> None:
    port, token, seconds, connections = sys.argv[1:5]
    print(json.dumps(asyncio.run(_run(int(port), token, float(seconds), int(connections)))))


if __name__ == "__main__":
    main()
