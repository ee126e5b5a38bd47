"""The PostgreSQL and Redis servers of one Tideline: given by URLs, or started here."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.services.binaries import choose_postgres, find_redis, list_postgres
from lab.services.cluster import make_clusters
from lab.services.errors import DatabaseUrlsIncomplete
from lab.services.folders import ServiceFolders, prepare_folders, private_folder
from lab.services.locks import locked
from lab.services.machine import Search
from lab.services.postgres import PostgresServer
from lab.services.redis import RedisServer
from lab.services.server import Server
from lab.services.server_user import ServerUser, server_user
from lab.services.spawn import rotate_logs

URL_NAMES = ("DATABASE_URL", "SHARD_DATABASE_URLS", "REDIS_URL")
PrintLine = Callable[[str], None]


@dataclass
class RunningServices:
    """The servers by name ("default", "shard0", …); empty or None when a URL was given instead.

    `logs`: the folder of their logs, if any was started.
    """

    given: Mapping[str, str]
    postgres: dict[str, PostgresServer] = field(default_factory=dict)
    redis: RedisServer | None = None
    home: Path | None = None
    logs: Path = field(default_factory=Path)

    @property
    def servers(self) -> list[Server]:
        return [*self.postgres.values(), *([self.redis] if self.redis else [])]

    def environment(self) -> dict[str, str]:
        """The variables for the settings: DATABASE_URL, SHARD_DATABASE_URLS, REDIS_URL."""
        started: dict[str, str] = {}
        if self.postgres:
            default, *shards = [server.url for server in self.postgres.values()]
            started |= {"DATABASE_URL": default, "SHARD_DATABASE_URLS": ",".join(shards)}
        if self.redis:
            started["REDIS_URL"] = self.redis.url
        return {name: started.get(name) or self.given[name] for name in URL_NAMES}


@contextmanager
def running_services(
    data: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    shard_count: int = 4,
    durable: bool = True,
    search: Search | None = None,
    postgres_settings: Mapping[str, str] | None = None,
    report: PrintLine = lambda _: None,
) -> Iterator[RunningServices]:
    """PostgreSQL and Redis during the block: those that `environ` names, else servers started here.

    Servers started here keep their data below `data` between runs. Without `durable` a power cut
    may destroy the data. They end with this process, however it ends.
    Raises ServiceError. Safety: call it from the main thread.
    Cost: 1.5 s the first time, half a second later.
    """
    given = _given_urls(environ)
    if len(given) == len(URL_NAMES):
        yield RunningServices(given)
        return
    user = server_user()
    folders = prepare_folders(data, user)
    with locked(folders.data / "lock"):
        rotate_logs(folders.logs)
        programs = search or Search(environ.get("PATH", ""))
        factory = _ServerFactory(folders, user, programs, report, durable, postgres_settings or {})
        services = RunningServices(given, home=folders.home, logs=folders.logs)
        try:
            if "REDIS_URL" not in given:
                services.redis = factory.redis()
            if "DATABASE_URL" not in given:
                services.postgres = factory.postgres(shard_count)
            start_all(services.servers)
            yield services
        finally:
            stop_all(services.servers)


def start_all(servers: list[Server]) -> None:
    """Starts the servers in parallel and returns when all of them answer."""
    for server in servers:
        server.begin()
    for server in servers:
        server.wait_until_ready()


def stop_all(servers: list[Server]) -> None:
    """Stops the servers in parallel and returns when all of them have ended."""
    for server in servers:
        server.begin_stop()
    for server in servers:
        server.stop()


def _given_urls(environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: environ[name] for name in URL_NAMES if environ.get(name)}
    for given_name, other in (URL_NAMES[:2], URL_NAMES[1::-1]):
        if given_name in given and other not in given:
            raise DatabaseUrlsIncomplete(given_name, other)
    return given


@dataclass(frozen=True)
class _ServerFactory:
    """Finds programs and creates data folders; returns servers that can be started."""

    folders: ServiceFolders
    user: ServerUser
    search: Search
    report: PrintLine
    durable: bool
    postgres_settings: Mapping[str, str]

    def redis(self) -> RedisServer:
        binary = find_redis(self.search, self.user, self._copies)
        self.report(f"Redis: {binary.program}")
        return RedisServer(binary, self.folders, self.user)

    def postgres(self, shard_count: int) -> dict[str, PostgresServer]:
        names = ["default", *(f"shard{number}" for number in range(shard_count))]
        home = private_folder(self.folders.home / "postgres", self.user)
        data = [home / name for name in names]
        binary = choose_postgres(list_postgres(self.search, self.user, self._copies), data)
        self.report(f"PostgreSQL {binary.major}: {binary.program}")
        if missing := [folder for folder in data if not folder.exists()]:
            self.report(f"Creating {len(missing)} PostgreSQL data folders in {self.folders.home}")
            make_clusters(binary, self.folders, self.user, missing, self.durable)
        options = (binary, self.folders, self.user, self.durable, self.postgres_settings)
        return {name: PostgresServer(name, n, *options) for n, name in enumerate(names)}

    @property
    def _copies(self) -> Path:
        return self.folders.home / "binaries"
