"""A whole Tideline on throw-away servers: real web, worker and compensator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

from lab.runner.installation import THROW_AWAY_KEY, Installation, throw_away_installation
from lab.runner.port import HOST
from lab.services import RunningServices
from tests.services import migrated_services
from tests.waiting import until

SIGN_UP = """
import os, sys
import django
from django.core.management import call_command
django.setup()
password, *names = sys.argv[1:]
for name in names:
    with open(os.devnull, "w") as devnull:
        words = name, "--email", f"{name}@example.org", "--password", password
        call_command("accounts", "create", *words, stdout=devnull)
call_command("demo_token", *names)
"""


class Deployment(Installation):
    """What runs, seen from outside: an address, a command line, the databases' URLs."""

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def default_url(self) -> str:
        return self.environment["DATABASE_URL"]

    @property
    def shard_urls(self) -> list[str]:
        return self.environment["SHARD_DATABASE_URLS"].split(",")

    def sign_up(self, *names: str) -> list[str]:
        """A token of each. Cost: one process for all."""
        return self.run("-c", SIGN_UP, THROW_AWAY_KEY, *names).split()

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


def deployment_on(services: RunningServices, settings: Mapping[str, str]) -> Deployment:
    """Its processes are the caller's to start."""
    return Deployment(**vars(throw_away_installation(services, settings)))


@contextmanager
def prepared(settings: Mapping[str, str]) -> Iterator[Deployment]:
    """Servers and migrated databases; its processes are the caller's to start."""
    with migrated_services() as services:
        yield deployment_on(services, settings)


@contextmanager
def deployed(settings: Mapping[str, str]) -> Iterator[Deployment]:
    """Everything `make run` has, without the demo community; gone when the block ends."""
    with prepared(settings) as deployment, deployment.running("/health/live"):
        yield deployment
