"""A fresh Tideline for the clients: own servers, empty databases, a few accounts with tokens."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from lab.runner.installation import throw_away_installation
from lab.runner.port import free_port
from lab.runner.programs import streaming_child
from lab.services import running_services, throw_away_services

# The suites sign up an account for each test, all from one address.
_SETTINGS = dict.fromkeys(
    (
        "QUOTA_PER_ACCOUNT",
        "QUOTA_PER_APPLICATION",
        "QUOTA_PER_ADDRESS",
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
    with throw_away_services(partial(running_services, durable=False, shard_count=2)) as services:
        port = free_port()
        known = {**_SETTINGS, "STREAMING_URL": f"ws://localhost:{port}"}
        instance = throw_away_installation(services, known)
        streams = streaming_child(services.logs, instance.environment, port)
        instance.processes = {**instance.processes, streams.name: streams}
        instance.migrate()
        credentials = json.loads(instance.run("-m", "lab.conformance.make_accounts"))
        with instance.running():
            yield ClientTarget(f"http://localhost:{instance.port}", credentials)
