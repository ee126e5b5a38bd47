"""Requests at a fixed pace, whether the server answers or not: a slow one delays no other."""

import json
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.load.connection import Connection
from lab.load.loop import LoadLoop, LoadRequest, SentRequest, Turns, fixed_rate
from lab.runner.port import HOST

_CLIENTS = 48


class Ask(NamedTuple):
    """A request. `name`: of the group of its answers. `key`: its Idempotency-Key."""

    name: str
    token: str
    path: str
    method: str = "GET"
    body: Any = None
    key: str = ""


class Answer(NamedTuple):
    """`took_s`: since the request was due. Status 0: no answer, or a broken one."""

    ask: Ask
    status: int
    took_s: float
    content: bytes


class Clients(LoadLoop):
    """Clients of one web server, which keep their connections."""

    give_up_s = 60.0

    def __init__(self, port: int) -> None:
        super().__init__((HOST, port), _CLIENTS)
        self._answers: dict[str, tuple[int, float, bytes]] = {}

    def paced(self, asks: Sequence[Ask], per_s: float, lasting_s: float) -> list[Answer]:
        """The answers, in the order in which the requests were due."""
        drawn, turns = random.Random(1), fixed_rate(per_s, lasting_s)
        return self._send_all([drawn.choice(asks) for _ in range(round(per_s * lasting_s))], turns)

    def send(self, ask: Ask) -> Answer:
        return self._send_all([ask], lambda sent, _: None if sent else 0.0)[0]

    def answered(self, connection: Connection, sent: SentRequest, now: float) -> None:
        self._keep(sent, connection.status, now, connection.body)

    def lost(self, sent: SentRequest | None, error: OSError, now: float) -> None:
        if sent is not None:
            self._keep(sent, 0, now, b"")

    def _send_all(self, asks: Sequence[Ask], turns: Turns) -> list[Answer]:
        self.run((LoadRequest(_bytes_of(ask), str(n)) for n, ask in enumerate(asks)), turns)
        return [Answer(ask, *self._answers.pop(str(n))) for n, ask in enumerate(asks)]

    def _keep(self, sent: SentRequest, status: int, now: float, content: bytes) -> None:
        self._answers[sent.request.kind] = (status, now - sent.turn_at, content)


def percentile(answers: Sequence[Answer], share: float) -> float:
    """The time of this share of the answers, in seconds."""
    times = sorted(answer.took_s for answer in answers)
    return times[min(int(len(times) * share), len(times) - 1)]


def _bytes_of(ask: Ask) -> bytes:
    body = b"" if ask.body is None else json.dumps(ask.body).encode()
    headers = {"Host": "localhost", "Content-Length": str(len(body))}
    headers |= {"Content-Type": "application/json"} if body else {}
    headers |= {"Authorization": f"Bearer {ask.token}"} if ask.token else {}
    headers |= {"Idempotency-Key": ask.key} if ask.key else {}
    lines = [f"{ask.method} {ask.path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body
