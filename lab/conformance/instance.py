"""A fresh Tideline for the clients: own servers, empty databases, a few accounts with tokens."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.runner.child import CHECKOUT, Child
from lab.runner.errors import ChildDidNotStart
from lab.runner.port import free_port, is_answering
from lab.runner.programs import app_environment, list_children
from lab.services import URL_NAMES, running_services
from lab.services.delete_data import delete_data

_KEY = "key-of-the-conformance-harness-only-key-of-the-conformance-harness-only"
_SHARDS = 2
_START_S = 60.0
_POLL_S = 0.05
# The suites sign up an account for each test, all from one address.
_SETTINGS = dict.fromkeys(
    (
        "QUOTA_PER_ACCOUNT",
        "QUOTA_PER_APPLICATION",
        "QUOTA_PER_ADDRESS",
        "SIGN_UPS_PER_ADDRESS",
        "APPLICATIONS_PER_ADDRESS",
        "TOKENS_PER_ADDRESS",
        "FOLLOWS_PER_DAY",
    ),
    "1000000",
)


class ClientTarget(NamedTuple):
    """The server that clients talk to. `credentials`: what the seed made, by the seed's names."""

    url: str
    credentials: Mapping[str, str]

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")


@contextmanager
def fresh_instance() -> Iterator[ClientTarget]:
    """A Tideline of its own during the block. Its data are deleted at the end.

    Raises: ServiceError, ChildDidNotStart, CalledProcessError.
    Safety: call it from the main thread.
    """
    home, port = Path(tempfile.mkdtemp(prefix="tideline-conformance-")), free_port()
    outside = {name: value for name, value in os.environ.items() if name not in URL_NAMES}
    with ExitStack() as stack:
        stack.callback(delete_data, home)
        (home / "logs").mkdir()
        services = stack.enter_context(
            running_services(home, environ=outside, shard_count=_SHARDS, durable=False)
        )
        own = {**services.environment(), **_SETTINGS, **_folders(home)}
        environment = app_environment(own, _KEY, port) | own
        _run(environment, "manage.py", "migrate_shards", "--verbosity", "0")
        _run(environment, "manage.py", "backfill_recent_posts")
        credentials = json.loads(_run(environment, "-m", "lab.conformance.seed"))
        children = list_children(home / "logs", environment, port)
        for child in children:
            stack.callback(child.stop)
            child.begin()
        _await(children[0], port)
        yield ClientTarget(f"http://localhost:{port}", credentials)


def _folders(home: Path) -> dict[str, str]:
    return {"RUNTIME_DIR": str(home / "runtime"), "MEDIA_DIR": str(home / "media")}


def _run(environment: Mapping[str, str], *words: str) -> str:
    command = [sys.executable, *words]
    done = subprocess.run(
        command, env=environment, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def _await(web: Child, port: int) -> None:
    """Returns when the web server is ready, and the worker delivers. Raises ChildDidNotStart."""
    deadline = time.monotonic() + _START_S
    while not is_answering(port, "/health/ready"):
        if not web.is_running or time.monotonic() > deadline:
            raise ChildDidNotStart(web.name, web.log)
        time.sleep(_POLL_S)
