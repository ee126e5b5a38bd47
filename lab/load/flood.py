"""More requests than a web answers: python -m lab.load.flood PORT TOKEN SECONDS CONNECTIONS.

Each connection sends the next request as soon as the last one is answered. Prints JSON: the answers
by status, and how many refusals say no time to come back.
"""

import itertools
import json
import sys
from collections import Counter

from lab.load.connection import Connection, get_request
from lab.load.loop import LoadLoop, LoadRequest, SentRequest, without_pause
from lab.runner.port import HOST

LOST = "no answer"
_SOURCE = "127.0.0.2"  # not the address of the load


class _Flood(LoadLoop):
    def __init__(self, port: int, connections: int, give_up_s: float) -> None:
        super().__init__((HOST, port), connections, _SOURCE)
        self.seen: Counter[str] = Counter()
        self.give_up_s = give_up_s

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        self.seen[str(connection.status)] += 1
        if connection.status == 503 and b"\r\nretry-after:" not in connection.head:
            self.seen["503 without retry-after"] += 1

    def lost(self, sent: SentRequest | None, error: OSError, now: float) -> None:
        if sent is not None:
            self.seen[LOST] += 1


def flood(
    port: int, request: bytes, connections: int, seconds: float, give_up_s: float = 10.0
) -> Counter[str]:
    """Answers by status; LOST: clients that gave up, or were disconnected."""
    with _Flood(port, connections, give_up_s) as load:
        load.run(itertools.repeat(LoadRequest(request)), without_pause(seconds))
        return load.seen


def main() -> None:
    port, token, seconds, connections = sys.argv[1:5]
    request = get_request("/api/v1/timelines/home?limit=40", token)
    print(json.dumps(flood(int(port), request, int(connections), float(seconds))))


if __name__ == "__main__":
    main()
