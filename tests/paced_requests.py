"""Requests at a fixed pace, whether the server answers or not: a slow one delays no other."""

import http.client
import json
import queue
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from lab.runner.port import HOST

_CLIENTS = 48
_PATIENCE_S = 60.0


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
    due_s: float


class Clients:
    """Clients of one web server, which keep their connections. Threads share it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()

    def paced(self, asks: Sequence[Ask], per_s: float, lasting_s: float) -> list[Answer]:
        """The answers, in the order in which the requests were due."""
        drawn, began_s = random.Random(1), time.monotonic()
        with ThreadPoolExecutor(_CLIENTS) as clients:
            futures = []
            for number in range(int(per_s * lasting_s)):
                due_s = began_s + number / per_s
                time.sleep(max(due_s - time.monotonic(), 0))
                futures.append(clients.submit(self.send, drawn.choice(asks), due_s))
            return [future.result() for future in futures]

    def send(self, ask: Ask, due_s: float | None = None) -> Answer:
        due_s = time.monotonic() if due_s is None else due_s
        connection = self._take()
        try:
            status, content = _exchange(connection, ask)
        except (OSError, http.client.HTTPException):
            status, content = 0, b""
            connection.close()
        self._idle.put(connection)
        return Answer(ask, status, time.monotonic() - due_s, content, due_s)

    def close(self) -> None:
        while not self._idle.empty():
            self._idle.get().close()

    def _take(self) -> http.client.HTTPConnection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return http.client.HTTPConnection(HOST, self._port, timeout=_PATIENCE_S)


@contextmanager
def clients_of(port: int) -> Iterator[Clients]:
    clients = Clients(port)
    try:
        yield clients
    finally:
        clients.close()


def percentile(answers: Sequence[Answer], share: float) -> float:
    """The time of this share of the answers, in seconds."""
    times = sorted(answer.took_s for answer in answers)
    return times[min(int(len(times) * share), len(times) - 1)]


def _exchange(connection: http.client.HTTPConnection, ask: Ask) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {ask.token}", "Content-Type": "application/json"}
    body = None if ask.body is None else json.dumps(ask.body)
    if ask.key:
        headers["Idempotency-Key"] = ask.key
    connection.request(ask.method, ask.path, body, headers if ask.token else {})
    answer = connection.getresponse()
    return answer.status, answer.read()
