"""A whole Tideline. Every tool and test starts it here, each with its own settings.

The order is always the same: servers, databases, processes.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.runner.child import CHECKOUT, Child
from lab.runner.errors import ChildDidNotStart
from lab.runner.port import free_port, is_answering
from lab.runner.programs import app_environment, make_children
from lab.services import RunningServices

THROW_AWAY_KEY = "key-of-a-test-only-key-of-a-test-only-key-of-a-test-only-0123456789"
# Far above what it takes on a crowded machine. A process that has ended is noticed at once.
_START_S = 180.0
_POLL_S = 0.05


@dataclass
class Installation:
    """`environment`: of all processes. `ports`: of the web servers, by the names of processes."""

    environment: Mapping[str, str]
    logs: Path
    ports: Mapping[str, int]
    processes: Mapping[str, Child]

    @property
    def port(self) -> int:
        """Of the first web server."""
        return next(iter(self.ports.values()))

    def run(self, *words: str) -> str:
        """Runs Python with these arguments to its end. Returns what it printed.

        Raises CalledProcessError.
        """
        command = [sys.executable, *words]
        return subprocess.run(
            command,
            env=self.environment,
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def manage(self, *words: str) -> str:
        """As `run`, for a command of the product."""
        return self.run("manage.py", *words)

    def migrate(self) -> None:
        """Gives empty databases their tables, as docs/how-to/deploy.md says."""
        self.manage("migrate_shards", "--verbosity", "0")
        self.manage("backfill", "recent-posts")

    def begin(self) -> None:
        """Starts all processes and returns at once."""
        for process in self.processes.values():
            process.begin()

    def wait_until_ready(self, path: str = "/health/ready") -> None:
        """Returns when all web servers answer `path`. Raises ChildDidNotStart."""
        deadline = time.monotonic() + _START_S
        for name, port in self.ports.items():
            web = self.processes[name]
            while not is_answering(port, path):
                if not web.is_running or time.monotonic() > deadline:
                    raise ChildDidNotStart(name, web.log)
                time.sleep(_POLL_S)

    def stop(self, names: Sequence[str] = ()) -> list[str]:
        """Stops these processes, or all. Returns the names of those that had to be killed."""
        chosen = [self.processes[name] for name in names or self.processes]
        for process in chosen:
            process.begin_stop()
        return [process.name for process in chosen if not process.stop()]

    @contextmanager
    def running(self, path: str = "/health/ready") -> Iterator[None]:
        """The processes run during the block. Raises ChildDidNotStart."""
        try:
            self.begin()
            self.wait_until_ready(path)
            yield
        finally:
            self.stop()


def usual_installation(environment: Mapping[str, str], logs: Path, port: int) -> Installation:
    """Web, worker and compensator of `make run`, which are not started."""
    children = make_children(logs, environment, port)
    return Installation(environment, logs, {"web": port}, children)


def throw_away_installation(services: RunningServices, settings: Mapping[str, str]) -> Installation:
    """The same on servers of `throw_away_services`, with its files in their folder."""
    port = free_port()
    environment = throw_away_environment(services, settings, port)
    return usual_installation(environment, services.logs, port)


def throw_away_environment(
    services: RunningServices, settings: Mapping[str, str], port: int
) -> dict[str, str]:
    """Of processes on these servers. Their files are in the folder of the servers."""
    runtime, media = (services.logs.with_name(name) for name in ("runtime", "media"))
    runtime.mkdir(exist_ok=True)
    folders = {"RUNTIME_DIR": str(runtime), "MEDIA_DIR": str(media)}
    own = {**services.environment(), **folders, **settings}
    return app_environment(own, THROW_AWAY_KEY, port)
