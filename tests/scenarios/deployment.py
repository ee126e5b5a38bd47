"""A whole Tideline for a scenario: throw-away servers, real web, worker and compensator."""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from config.runner.child import CHECKOUT, Child
from config.runner.port import HOST, answers
from config.runner.programs import app_environment, list_children
from tests.services import private_services

KEY = "key-of-a-scenario-only-key-of-a-scenario-only-0123456789"
START_S = 60.0


@dataclass(frozen=True)
class Deployment:
    """What runs, seen from outside: an address, a command line, the databases' URLs."""

    port: int
    environment: Mapping[str, str]

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def default_url(self) -> str:
        return self.environment["DATABASE_URL"]

    @property
    def shard_urls(self) -> list[str]:
        return self.environment["SHARD_DATABASE_URLS"].split(",")

    def manage(self, *words: str) -> str:
        """Runs a command to its end and returns what it printed. Raises CalledProcessError."""
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            env=self.environment,
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def pending_count(self) -> int:
        """Changes that are not delivered, parked ones too."""
        count = 0
        for url in (self.default_url, *self.shard_urls):
            with psycopg.connect(url) as connection:
                rows = connection.execute("SELECT count(*) FROM changes_change").fetchall()
                count += rows[0][0]
        return count

    def wait_until_drained(self, within_s: float) -> None:
        deadline = time.monotonic() + within_s
        while pending := self.pending_count():
            assert time.monotonic() < deadline, f"{pending} changes still pending"
            time.sleep(0.2)


@contextmanager
def deployed(settings: Mapping[str, str]) -> Iterator[Deployment]:
    """Everything `make run` has, without the demo community; gone when the block ends."""
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tideline-logs-")))
        services = stack.enter_context(private_services())
        port = _free_port()
        environment = app_environment({**services.environment(), **settings}, KEY, port)
        deployment = Deployment(port, environment)
        deployment.manage("migrate_shards")
        children = list_children(logs, environment, port)
        for child in children:
            stack.callback(child.stop)
            child.begin()
        _wait_for_web(children[0], port)
        yield deployment


def _wait_for_web(web: Child, port: int) -> None:
    deadline = time.monotonic() + START_S
    while not answers(port, "/health/live"):
        assert web.is_running, web.log.read_text()
        assert time.monotonic() < deadline, web.log.read_text()
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
