"""The services of one Tideline, from URLs in the environment to servers started here."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from config.services.binaries import Search, find_redis, list_postgres
from config.services.cluster import ClusterMaker, choose_postgres
from config.services.errors import DatabaseUrlsIncomplete
from config.services.locks import locked
from config.services.places import Places, prepare_places, private_folder
from config.services.postgres import PostgresServer
from config.services.redis import RedisServer
from config.services.server import Server
from config.services.server_user import ServerUser, server_user

Report = Callable[[str], None]
URL_NAMES = ("DATABASE_URL", "SHARD_DATABASE_URLS", "REDIS_URL")


@dataclass
class RunningServices:
    """What runs. A server in `postgres` ("default", "shard0", …) or `redis` was started here."""

    given: Mapping[str, str]
    postgres: dict[str, PostgresServer] = field(default_factory=dict)
    redis: RedisServer | None = None
    home: Path | None = None

    @property
    def servers(self) -> list[Server]:
        return [*self.postgres.values(), *([self.redis] if self.redis else [])]

    def environment(self) -> dict[str, str]:
        """The variables the settings read: DATABASE_URL, SHARD_DATABASE_URLS, REDIS_URL."""
        ours: dict[str, str] = {}
        if self.postgres:
            default, *shards = [server.url for server in self.postgres.values()]
            ours |= {"DATABASE_URL": default, "SHARD_DATABASE_URLS": ",".join(shards)}
        if self.redis:
            ours["REDIS_URL"] = self.redis.url
        return {name: ours.get(name) or self.given[name] for name in URL_NAMES}


@contextmanager
def running_services(
    data: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    shard_count: int = 4,
    durable: bool = True,
    search: Search | None = None,
    report: Report = lambda _: None,
) -> Iterator[RunningServices]:
    """PostgreSQL and Redis for the length of the block: those `environ` names, else our own.

    Our own keep their data below `data` between runs; with `durable` off a power cut may cost it.
    They die with this process, however it ends. Raises ServiceError; from the main thread only.
    Cost: 1.5 s the first time, half a second later, 10 MB a server.
    """
    given = _given_urls(environ)
    if len(given) == len(URL_NAMES):
        yield RunningServices(given)
        return
    user = server_user()
    places = prepare_places(data, user)
    with locked(places.data / "lock"):
        _turn_over(places.logs)
        starter = _Starter(places, user, search or Search(environ.get("PATH", "")), report)
        services = RunningServices(given, home=places.home)
        try:
            if "REDIS_URL" not in given:
                services.redis = starter.redis()
            if "DATABASE_URL" not in given:
                services.postgres = starter.postgres(shard_count, durable)
            _start(services.servers)
            yield services
        finally:
            _stop(services.servers)


@dataclass(frozen=True)
class _Starter:
    """Finds binaries, prepares data, and gives servers that are ready to be started."""

    places: Places
    user: ServerUser
    search: Search
    report: Report

    def redis(self) -> RedisServer:
        binary = find_redis(self.search, self.user, self._copies)
        self.report(f"Redis: {binary.program}")
        return RedisServer(binary, self.places, self.user)

    def postgres(self, shard_count: int, durable: bool) -> dict[str, PostgresServer]:
        names = ["default", *(f"shard{number}" for number in range(shard_count))]
        folders = [self._postgres_home() / name for name in names]
        usable = list_postgres(self.search, self.user, self._copies)
        binary = choose_postgres(usable, folders)
        self.report(f"PostgreSQL {binary.major}: {binary.program}")
        if missing := [folder for folder in folders if not folder.exists()]:
            self.report(f"Making {len(missing)} PostgreSQL data folders in {self.places.home}")
            ClusterMaker(binary, self.places, self.user).make(missing, durable)
        return {
            name: PostgresServer(name, number, binary, self.places, self.user, durable)
            for number, name in enumerate(names)
        }

    def _postgres_home(self) -> Path:
        return private_folder(self.places.home / "postgres", self.user)

    @property
    def _copies(self) -> Path:
        return self.places.home / "binaries"


def _given_urls(environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: environ[name] for name in URL_NAMES if environ.get(name)}
    for one, other in (URL_NAMES[:2], URL_NAMES[1::-1]):
        if one in given and other not in given:
            raise DatabaseUrlsIncomplete(one, other)
    return given


def _turn_over(logs: Path) -> None:
    """Each run begins new log files and keeps those of the run before."""
    for log in logs.glob("*.log"):
        log.rename(log.with_suffix(".log.1"))


def _start(servers: list[Server]) -> None:
    """Side by side: begun one after the other, then awaited."""
    for server in servers:
        server.begin()
    for server in servers:
        server.wait_until_ready()


def _stop(servers: list[Server]) -> None:
    for server in servers:
        server.begin_stop()
    for server in servers:
        server.stop()
