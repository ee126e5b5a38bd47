"""One client's HTTP connection: kept alive, and a request is never sent twice."""

import http.client
import json
import re
import select
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from lab.faults.load.balancer import Balancer
from lab.runner.port import HOST

_LIMIT = "a-limit-that-is-in-no-file"


class Answer(NamedTuple):
    """`status` 0: no complete answer came. `body`: decoded JSON, or None.

    `next_path`: of the next page, from the Link header.
    """

    status: int
    body: Any = None
    next_path: str | None = None

    @property
    def is_ok(self) -> bool:
        return 200 <= self.status < 300


class ClientConnection:
    """Safety: one thread."""

    def __init__(self, client: int, token: str, balancer: Balancer, timeout_s: float) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._balancer = balancer
        self._timeout_s = timeout_s
        self._open: http.client.HTTPConnection | None = None

    def get(self, path: str, **query: object) -> Answer:
        return self._ask("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path)

    def post(self, path: str, body: object = None, key: str = "") -> Answer:
        return self._ask("POST", path, body, {"Idempotency-Key": key} if key else {})

    def upload(self, path: str, file: bytes) -> Answer:
        """Sends a form with one file."""
        head = f'--{_LIMIT}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n'
        sent = head.encode() + file + f"\r\n--{_LIMIT}--\r\n".encode()
        return self._send(
            "POST", path, sent, {"Content-Type": f"multipart/form-data; boundary={_LIMIT}"}
        )

    def delete(self, path: str) -> Answer:
        return self._ask("DELETE", path)

    def close(self) -> None:
        if self._open:
            self._open.close()
            self._open = None

    def _ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = None if body is None else json.dumps(body).encode()
        return self._send(method, path, sent, headers or {})

    def _send(self, method: str, path: str, sent: bytes | None, headers: dict[str, str]) -> Answer:
        try:
            connection = self._connection()
            connection.request(method, path, sent, self._headers | headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return Answer(0)
        if answer.will_close:
            self.close()
        return Answer(answer.status, _decoded(content), _next_path(answer.headers.get("Link", "")))

    def _connection(self) -> http.client.HTTPConnection:
        """The open connection, unless its web is about to end or has closed it."""
        if self._open and (not self._balancer.is_ready(self._open.port) or _is_dropped(self._open)):
            self.close()
        if self._open is None:
            port = self._balancer.port_for(self._client)
            self._open = http.client.HTTPConnection(HOST, port, timeout=self._timeout_s)
        return self._open


def _is_dropped(connection: http.client.HTTPConnection) -> bool:
    """Whether the web has closed it while it was idle: then there is an end to read."""
    if connection.sock is None:
        return False
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _next_path(link: str) -> str | None:
    """The path and query of the next page in a Link header."""
    match = re.search(r'<([^>]*)>; rel="next"', link)
    parts = urlsplit(match.group(1)) if match else None
    return f"{parts.path}?{parts.query}" if parts else None


def _decoded(content: bytes) -> Any:
    """Valid JSON decoded. Anything else is None, and the caller finds nothing in it."""
    try:
        return json.loads(content)
    except ValueError:
        return None
