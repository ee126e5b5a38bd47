"""A web server, a worker and accounts on every shard, for tests in which one database hangs."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from infra.sharding.buckets import shard_of
from lab.runner.child import Child
from lab.runner.port import free_port, is_answering
from relations.actions.follow import follow
from tests.callers import token_of
from tests.paced_requests import Ask, Clients
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish

HOME = "/api/v1/timelines/home"
# The product's own limits: conftest.py sets longer ones for crowded machines.
LIMITS = {"DATABASE_ANSWER_MS": "1000", "REDIS_TIMEOUT_MS": "5000"}
SHARDS = tuple(f"shard{number}" for number in range(4))


class HungWorld:
    """Two accounts on each shard. The first of each follows the second of every shard."""

    def __init__(self) -> None:
        people = make_accounts(16)
        by_shard = {alias: [one for one in people if shard_of(one) == alias] for alias in SHARDS}
        self.readers = {alias: some[0] for alias, some in by_shard.items()}
        self.authors = {alias: some[1] for alias, some in by_shard.items()}
        self.unseen = {alias: some[2] for alias, some in by_shard.items()}
        for reader in self.readers.values():
            for author in self.authors.values():
                follow(reader, author)
        for author in (*self.authors.values(), *self.unseen.values()):
            publish(author)
        drain_all()
        self.tokens = {alias: token_of(one) for alias, one in self.readers.items()}

    def follow_unseen(self, shard: str, unseen: str) -> str:
        """The token of an account that follows only one author, whose post no process has read."""
        reader = next(one for one in make_accounts(4) if shard_of(one) == shard)
        follow(reader, self.unseen[unseen])
        drain_all()
        return token_of(reader)

    def homes(self, shards: Sequence[str] = SHARDS) -> list[Ask]:
        return [Ask(alias, self.tokens[alias], HOME) for alias in shards]


def environment_of(own: Mapping[str, str]) -> dict[str, str]:
    names = {"DJANGO_SETTINGS_MODULE": "config.settings", "DEVELOPMENT": "1"}
    return os.environ | LIMITS | names | own


@contextmanager
def running_web(environment: Mapping[str, str], log: Path) -> Iterator[Clients]:
    """Clients of it."""
    with serving(environment, log) as port, Clients(port) as clients:
        yield clients


@contextmanager
def serving(environment: Mapping[str, str], log: Path) -> Iterator[int]:
    """Its port."""
    port = free_port()
    options = ["--port", str(port), "--threads", "4", "--linger", "0", "--finish", "2"]
    web = Child("web", [sys.executable, "-m", "web", *options], log, environment)
    web.begin()
    try:
        until(lambda: is_answering(port, "/health/live"), said=log.read_text)
        yield port
    finally:
        web.stop()


def warm_up(clients: Clients, asks: Sequence[Ask], times: int = 10) -> None:
    """Each thread of the server has a connection to each database, and all pages are cached."""
    for ask in list(asks) * times:
        answer = clients.send(ask)
        assert answer.status == 200, answer
