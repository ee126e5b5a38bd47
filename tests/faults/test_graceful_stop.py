"""SIGTERM under load, behind nginx: every request is answered, every post is delivered once.

Without a proxy it is experiment F28 of `make faults`.

What deploy/Procfile starts: two web servers behind a balancer, a worker and a compensator.
"""

import http.client
import json
import ssl
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST, free_port, is_answering
from tests.deployment import Deployment, prepared
from tests.nginx import REASON, find_nginx, running_proxy
from tests.waiting import PATIENCE_S, until

PROCFILE = dict(
    line.split(": ", 1) for line in (CHECKOUT / "deploy/Procfile").read_text().splitlines()
)


@dataclass
class Fleet:
    """`webs` by port; `others` are the worker and the compensator."""

    site: Deployment
    webs: dict[int, Child]
    others: list[Child]
    open_ports: list[int] = field(default_factory=list)
    lines: list["Line"] = field(default_factory=list)
    exit_codes: dict[str, int] = field(default_factory=dict)
    # Of a proxy that clients use instead of the balancer; it speaks TLS.
    proxy_port: int | None = None
    # For how long a proxy may still leave a server alone that is ready again.
    rest_s: float = 0.0

    def line(self, token: str) -> "Line":
        """A client; its connection is closed with the fleet."""
        self.lines.append(Line(self, token))
        return self.lines[-1]

    def look(self) -> None:
        """What a balancer does all the time: sends nothing new to who is not ready."""
        self.open_ports[:] = [port for port in self.webs if is_answering(port, "/health/ready")]

    def await_all(self) -> None:
        until(lambda: len(self.open_ports) == len(self.webs), said=self._logs)

    def restart_one_by_one(self) -> None:
        for child in [*self.webs.values(), *self.others]:
            child.stop()
            self.exit_codes[child.name.rstrip("0123456789")] = child.exit_code
            child.begin()
            self.await_all()
            if child in self.webs.values():
                time.sleep(self.rest_s)

    def _logs(self) -> list[str]:
        return [web.log.read_text() for web in self.webs.values()]


@contextmanager
def running_fleet(settings: Mapping[str, str]) -> Iterator[Fleet]:
    """All of it on servers of its own. Cost: half a minute."""
    with ExitStack() as stack:
        site = stack.enter_context(prepared(settings))
        webs = {port: _child("web", port, site) for port in (site.port, free_port())}
        others = [_child(name, None, site) for name in ("worker", "compensator")]
        fleet = Fleet(site, webs, others)
        for child in [*fleet.webs.values(), *others]:
            stack.callback(child.stop)
            child.begin()
        stack.enter_context(_looked_at(fleet))
        fleet.await_all()
        stack.callback(lambda: [line.close() for line in fleet.lines])
        yield fleet


def _child(name: str, port: int | None, site: Deployment) -> Child:
    """A line of deploy/Procfile, as honcho starts it."""
    called = f"{name}{port or ''}"
    path = f"{Path(sys.executable).parent}:{site.environment['PATH']}"
    argv = ["/bin/sh", "-c", f"exec {PROCFILE[name]}"]
    own = {**site.environment, "PATH": path, "PORT": str(port)}
    return Child(called, argv, site.logs / f"{called}.log", own)


@contextmanager
def _looked_at(fleet: Fleet) -> Iterator[None]:
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(0.05):
            fleet.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


@dataclass
class Line:
    """One client: a connection that is kept until the server says that it closes it."""

    fleet: Fleet
    token: str
    connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
        """Never asks twice: an answer that does not come is an exception."""
        connection = self.connection = self.connection or self._connect()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.will_close:
            self.close()
        return answer.status, content

    def close(self) -> None:
        if self.connection:
            self.connection.close()
            self.connection = None

    def _connect(self) -> http.client.HTTPConnection:
        if door := self.fleet.proxy_port:
            context = ssl._create_unverified_context()
            return http.client.HTTPSConnection(HOST, door, timeout=PATIENCE_S, context=context)
        port = self.fleet.open_ports[threading.get_ident() % len(self.fleet.open_ports)]
        return http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)


CLIENTS = 3
STOPPED_EARLY = 2
# As deploy/nginx/tideline.conf has it.
FAIL_TIMEOUT_S = 3.0


@dataclass
class Posting:
    """What clients were told, one connection each. `closed`: answers that ended a connection."""

    fleet: Fleet
    token: str
    is_over: threading.Event = field(default_factory=threading.Event)
    told: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    closed: int = 0

    def post_on(self, client: int) -> None:
        line, number = self.fleet.line(self.token), 0
        while not self.is_over.is_set():
            number += 1
            text = f"rolling {client}-{number}"
            try:
                body = self._ask(line, "POST", "/api/v1/statuses", json.dumps({"status": text}))
                self.told[json.loads(body)["id"]] = text
                self._ask(line, "GET", "/api/v1/timelines/home")
            except Exception as error:
                self.faults.append(f"{text}: {error!r}")
                return
            self.is_over.wait(0.2)  # an idle connection is what a server may close under a client

    def _ask(self, line: Line, method: str, path: str, sent: str | None = None) -> bytes:
        status, body = line.ask(method, path, sent)
        assert status == 200, body
        self.closed += line.connection is None
        return body


@pytest.fixture
def nginx():
    program = find_nginx()
    if program is None:
        pytest.skip(REASON)
    return program


@pytest.mark.slow
def test_a_rolling_restart_behind_nginx_loses_no_request_and_no_change(nginx):
    """Its clients never learn of it: they keep their connections."""
    settings = {"QUOTA_PER_ACCOUNT": "1000000", "TRUSTED_PROXIES": "1"}
    with running_fleet(settings) as fleet, running_proxy(nginx, [*fleet.webs]) as proxy:
        fleet.proxy_port, fleet.rest_s = proxy.port, FAIL_TIMEOUT_S + 2
        posting = restart_under_load(fleet)
        assert posting.closed == 0


def restart_under_load(fleet: Fleet) -> Posting:
    """Clients that never ask twice write and read, while each process is restarted."""
    author, reader = fleet.site.sign_up("ann", "bob")
    follow(fleet.line(reader), fleet.line(author))
    posting = Posting(fleet, author)
    clients = [threading.Thread(target=posting.post_on, args=(n,)) for n in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        fleet.restart_one_by_one()
    finally:
        posting.is_over.set()
        for client in clients:
            client.join()
    assert posting.faults == []
    assert fleet.exit_codes == {"web": 0, "worker": 0, "compensator": STOPPED_EARLY}
    fleet.site.manage("changes", "drain")
    author_line, reader_line = fleet.line(author), fleet.line(reader)
    assert found(author_line, path_of(author_line)) == posting.told
    assert found(reader_line, "/api/v1/timelines/home") == posting.told
    return posting


def follow(reader: Line, author: Line) -> None:
    name = json.loads(author.ask("GET", "/api/v1/accounts/verify_credentials")[1])["id"]
    assert reader.ask("POST", f"/api/v1/accounts/{name}/follow")[0] == 200


def path_of(line: Line) -> str:
    name = json.loads(line.ask("GET", "/api/v1/accounts/verify_credentials")[1])["id"]
    return f"/api/v1/accounts/{name}/statuses"


def found(line: Line, path: str) -> dict[str, str]:
    """The posts of this test on all pages; each may be there once."""
    seen: dict[str, str] = {}
    below = ""
    while True:
        status, body = line.ask("GET", f"{path}?limit=40{below}")
        assert status == 200, body
        page = json.loads(body)
        for entry in page:
            if "rolling " in entry["content"]:
                assert entry["id"] not in seen
                seen[entry["id"]] = entry["content"].removeprefix("<p>").removesuffix("</p>")
        if not page:
            return seen
        below = f"&max_id={page[-1]['id']}"
