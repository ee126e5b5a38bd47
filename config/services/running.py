"""The services of one Tideline, from URLs in the environment to servers started here."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from config.services.errors import DatabaseUrlsIncomplete
from config.services.folders import prepare_folders
from config.services.locks import locked
from config.services.logs import rotate_logs
from config.services.machine import Search
from config.services.postgres import PostgresServer
from config.services.preparation import PrintLine, ServerFactory
from config.services.redis import RedisServer
from config.services.replica import ReplicaServer
from config.services.server import Server
from config.services.server_user import server_user

URL_NAMES = ("DATABASE_URL", "SHARD_DATABASE_URLS", "REDIS_URL")


@dataclass
class RunningServices:
    """What runs. A server in `postgres` ("default", "shard0", …) or `redis` was started here.

    `replicas`: by the name of their shard.
    """

    given: Mapping[str, str]
    postgres: dict[str, PostgresServer] = field(default_factory=dict)
    redis: RedisServer | None = None
    home: Path | None = None
    replicas: dict[str, ReplicaServer] = field(default_factory=dict)

    @property
    def servers(self) -> list[Server]:
        redis = [self.redis] if self.redis else []
        return [*self.postgres.values(), *redis, *self.replicas.values()]

    def environment(self) -> dict[str, str]:
        """The variables the settings read: DATABASE_URL, SHARD_DATABASE_URLS, REDIS_URL, and, when
        there are replicas, SHARD_REPLICA_URLS."""
        ours: dict[str, str] = {}
        if self.postgres:
            default, *shards = [server.url for server in self.postgres.values()]
            ours |= {"DATABASE_URL": default, "SHARD_DATABASE_URLS": ",".join(shards)}
        if self.redis:
            ours["REDIS_URL"] = self.redis.url
        urls = {name: ours.get(name) or self.given[name] for name in URL_NAMES}
        if self.replicas:
            urls["SHARD_REPLICA_URLS"] = ",".join(one.url for one in self.replicas.values())
        return urls


@contextmanager
def running_services(
    data: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    shard_count: int = 4,
    durable: bool = True,
    search: Search | None = None,
    has_replicas: bool = False,
    report: PrintLine = lambda _: None,
) -> Iterator[RunningServices]:
    """PostgreSQL and Redis for the length of the block: those `environ` names, else our own.

    Our own keep their data below `data` between runs; with `durable` off a power cut may cost it.
    `has_replicas`: each shard started here gets one, made anew by every run.
    They die with this process, however it ends. Raises ServiceError; from the main thread only.
    Cost: 1.5 s the first time, half a second later, 10 MB a server.
    """
    given = _given_urls(environ)
    if len(given) == len(URL_NAMES):
        yield RunningServices(given)
        return
    user = server_user()
    folders = prepare_folders(data, user)
    with locked(folders.data / "lock"):
        rotate_logs(folders.logs)
        starter = ServerFactory(folders, user, search or Search(environ.get("PATH", "")), report)
        services = RunningServices(given, home=folders.home)
        try:
            if "REDIS_URL" not in given:
                services.redis = starter.redis()
            if "DATABASE_URL" not in given:
                services.postgres = starter.postgres(shard_count, durable, has_replicas)
            _start(services.servers)
            if has_replicas:
                services.replicas = starter.replicas(services.postgres, durable)
                _start_replicas(services)
            yield services
        finally:
            _stop(services.servers)


def _given_urls(environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: environ[name] for name in URL_NAMES if environ.get(name)}
    for one, other in (URL_NAMES[:2], URL_NAMES[1::-1]):
        if one in given and other not in given:
            raise DatabaseUrlsIncomplete(one, other)
    return given


def _start(servers: list[Server]) -> None:
    """Side by side: begun one after the other, then awaited."""
    for server in servers:
        server.begin()
    for server in servers:
        server.wait_until_ready()


def _start_replicas(services: RunningServices) -> None:
    for name, replica in services.replicas.items():
        replica.copy(services.postgres[name])
    _start([*services.replicas.values()])


def _stop(servers: list[Server]) -> None:
    for server in servers:
        server.begin_stop()
    for server in servers:
        server.stop()
