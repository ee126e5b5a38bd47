"""What the nodes of one shard share, and the configuration of each Patroni."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.faults.elections.etcd import EtcdServer
from lab.faults.elections.programs import ElectionPrograms
from lab.runner.port import HOST
from lab.services import PostgresServer
from lab.services.cluster import OWNER

# Patroni takes no shorter ttl. It must be at least loop_wait and two retries.
TTL_S, LOOP_S, RETRY_S = 20, 5, 5
_REPLICATOR = "replicator"
_NOT_DURABLE = {"fsync": "off"}


@dataclass(frozen=True)
class ElectedShard:
    """`like`: a server with the same program and folders. `password`: the servers listen on TCP,
    where everybody on this machine may knock."""

    name: str
    programs: ElectionPrograms
    etcd: EtcdServer
    like: PostgresServer
    settings: Mapping[str, str]
    password: str = field(default_factory=secrets.token_hex)

    def configuration(self, name: str, data: Path, port: int, api_port: int) -> dict[str, Any]:
        """Of one node. JSON is YAML."""
        place, api = f"{HOST}:{port}", f"{HOST}:{api_port}"
        who = {"superuser": OWNER, "replication": _REPLICATOR}
        return {
            "scope": self.name,
            "name": name,
            "etcd3": {"host": f"{HOST}:{self.etcd.port}"},
            "restapi": {"listen": api, "connect_address": api},
            "bootstrap": {"dcs": self._rules(), "initdb": _INITDB},
            "postgresql": {
                "listen": place,
                "connect_address": place,
                "data_dir": str(data),
                "bin_dir": str(self.like.binary.program.parent),
                "pgpass": str(data.with_name("pgpass")),
                "authentication": {
                    role: {"username": user, "password": self.password}
                    for role, user in who.items()
                },
                "parameters": {"unix_socket_directories": str(self.like.folders.sockets)},
                "pg_hba": [f"host {what} all {HOST}/32 scram-sha-256" for what in _DATABASES],
            },
        }

    def _rules(self) -> dict[str, Any]:
        return {
            "ttl": TTL_S,
            "loop_wait": LOOP_S,
            "retry_timeout": RETRY_S,
            "synchronous_mode": True,
            "postgresql": {"use_pg_rewind": True, "parameters": {**self.settings, **_NOT_DURABLE}},
        }


_DATABASES = ("all", "replication")
_INITDB = [
    {"encoding": "UTF8"},
    {"locale": "C"},
    {"wal-segsize": "1"},
    {"auth": "scram-sha-256"},
    "no-sync",
]
