"""Getting servers ready to be started: programs found, data folders made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from config.services.binaries import find_redis, list_postgres
from config.services.cluster import choose_postgres, make_clusters
from config.services.folders import ServiceFolders, private_folder
from config.services.machine import Search
from config.services.postgres import PostgresServer
from config.services.redis import RedisServer
from config.services.replica import ReplicaServer
from config.services.server_user import ServerUser

PrintLine = Callable[[str], None]


@dataclass(frozen=True)
class ServerFactory:
    """Finds binaries, prepares data, and gives servers that are ready to be started."""

    folders: ServiceFolders
    user: ServerUser
    search: Search
    report: PrintLine

    def redis(self) -> RedisServer:
        binary = find_redis(self.search, self.user, self._copies)
        self.report(f"Redis: {binary.program}")
        return RedisServer(binary, self.folders, self.user)

    def postgres(
        self, shard_count: int, durable: bool, is_replicated: bool = False
    ) -> dict[str, PostgresServer]:
        names = ["default", *(f"shard{number}" for number in range(shard_count))]
        folders = [self._postgres_home() / name for name in names]
        usable = list_postgres(self.search, self.user, self._copies)
        binary = choose_postgres(usable, folders)
        self.report(f"PostgreSQL {binary.major}: {binary.program}")
        if missing := [folder for folder in folders if not folder.exists()]:
            self.report(f"Making {len(missing)} PostgreSQL data folders in {self.folders.home}")
            make_clusters(binary, self.folders, self.user, missing, durable)
        return {
            name: PostgresServer(
                name, number, binary, self.folders, self.user, durable, is_replicated
            )
            for number, name in enumerate(names)
        }

    def replicas(
        self, sources: Mapping[str, PostgresServer], durable: bool
    ) -> dict[str, ReplicaServer]:
        """One for each shard, by the shard's name. They are still to be copied."""
        shards = [name for name in sources if name != "default"]
        return {
            name: ReplicaServer(
                f"{name}_replica",
                number,
                sources[name].binary,
                self.folders,
                self.user,
                durable,
                is_replicated=True,
            )
            for number, name in enumerate(shards, start=len(sources))
        }

    def _postgres_home(self) -> Path:
        return private_folder(self.folders.home / "postgres", self.user)

    @property
    def _copies(self) -> Path:
        return self.folders.home / "binaries"
