"""A whole Tideline on throw-away servers: real web, worker and compensator."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST, free_port, is_answering
from lab.runner.programs import app_environment, list_children
from tests.migrated_data import KEY
from tests.services import migrated_services
from tests.waiting import until


@dataclass(frozen=True)
class Deployment:
    """What runs, seen from outside: an address, a command line, the databases' URLs."""

    port: int
    environment: Mapping[str, str]
    logs: Path

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

    def wait_until_drained(self) -> None:
        until(lambda: not self.pending_count(), said=self.pending_count)


@contextmanager
def prepared(settings: Mapping[str, str]) -> Iterator[Deployment]:
    """Servers and migrated databases; its processes are the caller's to start."""
    with (
        tempfile.TemporaryDirectory(prefix="tideline-logs-") as logs,
        migrated_services() as services,
    ):
        port = free_port()
        environment = app_environment({**services.environment(), **settings}, KEY, port)
        yield Deployment(port, environment, Path(logs))


@contextmanager
def deployed(settings: Mapping[str, str]) -> Iterator[Deployment]:
    """Everything `make run` has, without the demo community; gone when the block ends."""
    with ExitStack() as stack:
        deployment = stack.enter_context(prepared(settings))
        port = deployment.port
        children = list_children(deployment.logs, deployment.environment, port)
        for child in children:
            stack.callback(child.stop)
            child.begin()
        _wait_for_web(children[0], port)
        yield deployment


def _wait_for_web(web: Child, port: int) -> None:
    def is_up() -> bool:
        assert web.is_running, web.log.read_text()
        return is_answering(port, "/health/live")

    until(is_up, said=web.log.read_text)
