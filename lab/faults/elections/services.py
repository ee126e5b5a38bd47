"""The servers of a Tideline whose last shard has three servers, of which Patroni elects one."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from lab.faults.elections.etcd import EtcdServer
from lab.faults.elections.node import PatroniNode
from lab.faults.elections.programs import find_programs
from lab.faults.elections.shard import ElectedShard
from lab.runner.port import HOST
from lab.services import RunningServices, Server, running_services
from lab.services.cluster import OWNER

SHARD = "shard3"
_USUAL_SHARDS, _NODES = 3, 3
# initdb, and a copy of the data for each standby.
_START_S = 120.0


class NoPrimary(RuntimeError):
    """The nodes did not become a primary with a synchronous standby in time."""


@dataclass
class ElectedServices(RunningServices):
    """`nodes`: the servers of the shard. The first is not always the primary."""

    nodes: list[PatroniNode] = field(default_factory=list)
    etcd: EtcdServer | None = None
    url: str = ""

    @property
    def servers(self) -> list[Server]:
        return [*super().servers, *([self.etcd] if self.etcd else []), *self.nodes]

    def environment(self) -> dict[str, str]:
        usual = super().environment()
        return usual | {"SHARD_DATABASE_URLS": f"{usual['SHARD_DATABASE_URLS']},{self.url}"}

    def primary(self) -> PatroniNode:
        """Raises StopIteration while there is none."""
        return next(node for node in self.nodes if node.is_primary)

    def wait_for_standby(self) -> None:
        """Returns when commits wait for a standby. Raises NoPrimary."""
        deadline = time.monotonic() + _START_S
        while not any(node.is_synchronous for node in self.nodes):
            if time.monotonic() > deadline:
                raise NoPrimary
            time.sleep(0.2)


@contextmanager
def elected_services(
    data: Path, *, environ: Mapping[str, str], postgres_settings: Mapping[str, str]
) -> Iterator[ElectedServices]:
    """Three usual shards, and one of three nodes, during the block. Cost: half a minute.

    Raises ElectionImpossible, NoPrimary. Safety: call it from the main thread.
    """
    with running_services(
        data,
        environ=environ,
        shard_count=_USUAL_SHARDS,
        durable=False,
        postgres_settings=postgres_settings,
    ) as usual:
        like = usual.postgres["default"]
        programs = find_programs(like.user, like.folders.home / "binaries")
        etcd = EtcdServer(programs.etcd, like.folders, like.user)
        shard = ElectedShard(SHARD, programs, etcd, like, postgres_settings)
        nodes = [PatroniNode(shard, number) for number in range(_NODES)]
        services = ElectedServices(**vars(usual), nodes=nodes, etcd=etcd, url=_url(shard, nodes))
        try:
            _start(services, etcd)
            yield services
        finally:
            for node in nodes:
                node.kill()
            etcd.stop()


def _start(services: ElectedServices, etcd: EtcdServer) -> None:
    """The first node makes the data, the others copy it."""
    etcd.start()
    for node in services.nodes:
        node.begin()
    services.wait_for_standby()
    for node in services.nodes:
        node.wait_until_ready()
    with psycopg.connect(services.primary().url, dbname="postgres", autocommit=True) as session:
        session.execute(f"CREATE DATABASE {OWNER}")


def _url(shard: ElectedShard, nodes: list[PatroniNode]) -> str:
    """Names all of them, and means the one that takes writes."""
    places = ",".join(f"{HOST}:{node.port}" for node in nodes)
    who = f"{OWNER}:{shard.password}"
    return f"postgresql://{who}@{places}/{OWNER}?target_session_attrs=read-write"
