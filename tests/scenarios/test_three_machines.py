"""Stores, workers and web servers apart: each machine starts what its target wants.

A machine is a folder with its own installation, settings file and folder for running processes.
"""

import json
import re
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from infra.processes.free_ports import free_ports
from lab.runner.child import CHECKOUT
from lab.runner.port import is_answering
from tests.installed import IS_ROOT, Installation
from tests.services import private_services
from tests.waiting import until

pytestmark = pytest.mark.slow
PASSWORD = "a-long-secret-word"
PAGE = CHECKOUT / "docs/how-to/run-on-three-machines.md"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a web server, whose machine has no worker."""
    with ExitStack() as stack:
        stores = stack.enter_context(private_services(2))
        for socket in stores.home.rglob("*.s*") if IS_ROOT else ():
            if socket.is_socket():
                socket.chmod(0o666)  # the units' user is not the servers' one
        urls = stores.environment()
        workers = stack.enter_context(_machine("workers"))
        web = stack.enter_context(_machine("web"))
        shared = {name: workers.settings()[name] for name in ("SECRET_KEY", "VAPID_PRIVATE_KEY")}
        for machine in (workers, web):
            machine.change_settings({**urls, **shared, "HTTPS": "0"})
            machine.close()
        workers.run_unit("tideline-migrate.service")
        stack.enter_context(_started(workers, "tideline-workers.target"))
        ports = stack.enter_context(_started(web, "tideline-web.target"))
        assert len(ports) == 2
        yield ports[0]


@contextmanager
def _machine(role: str) -> Iterator[Installation]:
    with tempfile.TemporaryDirectory(prefix=f"tideline-{role}-") as name:
        root = Path(name)
        root.chmod(0o755)
        machine = Installation(root, "localhost")
        machine.copy_checkout()
        settings = machine.step(4).replace("collectstatic", "collectstatic --no-post-process")
        machine.run(f"umask 022\n{settings}")
        yield machine


@contextmanager
def _started(machine: Installation, target: str) -> Iterator[list[int]]:
    """All units that the target wants. Gives the ports of its web servers, which answer."""
    assert f"systemctl enable --now {target}" in PAGE.read_text()
    text = (machine.checkout / "deploy/systemd" / target).read_text()
    units = [unit for line in re.findall(r"^Wants=(.*)$", text, re.M) for unit in line.split()]
    ports, started = free_ports(len(units)), []
    try:
        for unit, port in zip(units, ports, strict=True):
            log = machine.root / f"{unit}.log"
            kind = re.sub(r"@\d+", "@", unit)
            assert target in machine.unit(kind)["PartOf"][0].split(), "the target stops it, too"
            started.append(machine.start_unit(kind, log, str(port)))
        served = [port for unit, port in zip(units, ports, strict=True) if "web@" in unit]
        for port in served:
            until(lambda port=port: is_answering(port, "/health/ready"))
        yield served
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def test_a_post_arrives_by_the_worker_of_another_machine(port: int) -> None:
    ann, bob = (_sign_up(port, name) for name in ("ann", "bob"))
    account = _ask(port, "/api/v1/accounts/verify_credentials", ann)["id"]
    assert _ask(port, f"/api/v1/accounts/{account}/follow", bob, {})["following"]
    until(lambda: _ask(port, f"/api/v1/accounts/{account}", ann)["followers_count"] == 1)
    posted = _ask(port, "/api/v1/statuses", ann, {"status": "hello"})["id"]
    until(lambda: posted in [post["id"] for post in _ask(port, "/api/v1/timelines/home", bob)])


def _sign_up(port: int, name: str) -> str:
    words = {"scopes": "read write follow", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}
    app = _ask(port, "/api/v1/apps", None, {"client_name": "Test", **words})
    client = {key: app[key] for key in ("client_id", "client_secret")}
    asked = {"grant_type": "client_credentials", "scope": "read write follow"}
    token = _ask(port, "/oauth/token", None, {**client, **asked})["access_token"]
    person = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
    agreed = {"agreement": "true", "locale": "en"}
    return str(_ask(port, "/api/v1/accounts", token, {**person, **agreed})["access_token"])


def _ask(port: int, path: str, token: str | None, form: dict[str, str] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = None if form is None else urlencode(form).encode()
    request = urllib.request.Request(f"http://localhost:{port}{path}", body, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
