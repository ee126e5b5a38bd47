"""SIGTERM under load, behind nginx: every request is answered, every post is delivered once.

Without a proxy it is experiment F28 of `make faults`.
"""

import json
import threading
from dataclasses import dataclass, field

import pytest

from tests.faults.fleet import Fleet, Line, running_fleet
from tests.nginx import REASON, find_nginx, running_proxy

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
    fleet.site.manage("drain_changes")
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
