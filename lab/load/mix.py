"""A closed loop: so many requests run at any time. And the bodies of answers, each once."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lab.load.connection import Connection
from lab.load.loop import LoadLoop, LoadRequest, SentRequest, refuse_errors

READ_CONNECTIONS = 8
# How long a load waits for its first answer.
FIRST_ANSWER_S = 10.0
USUAL_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class MixResult(NamedTuple):
    """Latencies in seconds by kind. `refused`: how many answers had a status of 400 to 499."""

    elapsed_s: float
    latencies: dict[str, list[float]]
    refused: int


def percentiles_ms(
    values_s: Sequence[float], shares: Mapping[str, float] = USUAL_SHARES
) -> dict[str, float]:
    """These percentiles in milliseconds; nothing without values."""
    ordered = sorted(values_s)
    latencies = {
        name: ordered[int(len(ordered) * share)] for name, share in shares.items() if ordered
    }
    return {name: round(value * 1000, 2) for name, value in latencies.items()}


def run_mix(
    address: tuple[str, int],
    next_request: Callable[[], tuple[str, bytes]],
    connections: int,
    seconds: float,
) -> MixResult:
    """Keeps `connections` requests running. Each comes from `next_request`: (kind, request).

    It waits longer for the first answer: a crowded machine gives none in a very short time.
    """
    requests = (LoadRequest(request, kind) for kind, request in iter(next_request, None))
    with _Mix(address, connections) as load:

        def turns(_: int, now_s: float) -> float | None:
            lacks_answers = not load.latencies and now_s < FIRST_ANSWER_S
            return now_s if now_s < seconds or lacks_answers else None

        began = time.perf_counter()
        load.run(requests, turns)
        return MixResult(time.perf_counter() - began, load.latencies, load.refused)


def read_bodies(address: tuple[str, int], requests: Sequence[bytes]) -> list[bytes]:
    """The body of the answer to each request. Raises RuntimeError if one is refused."""
    numbered = (LoadRequest(request, str(number)) for number, request in enumerate(requests))
    with _Bodies(address, min(READ_CONNECTIONS, len(requests))) as load:
        load.run(numbered, lambda sent, now_s: now_s if sent < len(requests) else None)
        return [load.bodies[str(number)] for number in range(len(requests))]


class _Mix(LoadLoop):
    def __init__(self, address: tuple[str, int], connections: int) -> None:
        super().__init__(address, connections)
        self.latencies: dict[str, list[float]] = {}
        self.refused = 0

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        refuse_errors(connection)
        self.latencies.setdefault(sent.request.kind, []).append(now - sent.turn_at)
        self.refused += connection.status >= 400


class _Bodies(LoadLoop):
    def __init__(self, address: tuple[str, int], connections: int) -> None:
        super().__init__(address, connections)
        self.bodies: dict[str, bytes] = {}

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        if connection.status >= 400:
            raise RuntimeError(f"{connection.status} {connection.body[:200]!r}")
        self.bodies[sent.request.kind] = connection.body
