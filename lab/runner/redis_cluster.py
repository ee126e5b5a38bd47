"""Redis servers on ports of this machine, alone or as a cluster; each may be killed and started."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from lab.runner.port import HOST, free_ports
from lab.services import Search
from lab.services.binaries import find_redis
from lab.services.server_user import server_user
from lab.services.spawn import server_environment, spawn
from lab.services.throw_away import PREFIX

SLOTS = 16_384
_START_S = 60.0
_POLL_S = 0.02
_ATTEMPTS = 5
_OF_CLUSTER = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": "2000",
    "cluster-require-full-coverage": "no",
    "repl-diskless-sync-delay": "0",  # else a replica waits five seconds for others
}


class PortRedis:
    """One server on a port, and on a second one for the other nodes if it is of a cluster."""

    def __init__(self, program: Path, home: Path, is_of_cluster: bool) -> None:
        self.port, self.bus = free_ports(2)
        folder = home / str(self.port)
        folder.mkdir(exist_ok=True)
        options = {"port": str(self.port), "bind": HOST, "dir": str(folder), "save": ""}
        if is_of_cluster:
            options |= _OF_CLUSTER | {"cluster-port": str(self.bus)}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._command, self._log = [str(program), *words], folder / "log"
        self.start()
        self.redis: Any = Redis(port=self.port, protocol=2, decode_responses=True)

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}"

    def start(self) -> None:
        self.process = spawn(self._command, self._log, env=server_environment())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def is_up_or_has_ended(self) -> bool:
        return self.is_up() or self.has_ended()

    def say(self, *command: object) -> Any:
        return self.redis.execute_command(*command)

    def is_up(self) -> bool:
        try:
            return bool(self.redis.ping())
        except RedisError:
            return False

    def is_in_cluster(self) -> bool:
        """Whether it knows who has all slots."""
        info = self.say("CLUSTER", "INFO")
        text = info if isinstance(info, str) else f"cluster_state:{info['cluster_state']}"
        return "cluster_state:ok" in text

    def has_its_primary(self) -> bool:
        """Whether it is a replica that has all data of its primary."""
        return bool(self.redis.info("replication").get("master_link_status") == "up")

    def is_primary(self) -> bool:
        return bool(self.redis.info("replication")["role"] == "master")


@contextmanager
def port_redis() -> Iterator[PortRedis]:
    """A server alone, during the block."""
    with _servers(1, is_of_cluster=False) as [server]:
        yield server


@contextmanager
def redis_cluster(nodes: int = 3, replicas: int = 0) -> Iterator[Sequence[PortRedis]]:
    """A cluster, during the block: primaries, and then replicas, of the first primaries one each.

    Cost: 2 s, and 1 more with replicas.
    """
    with _servers(nodes + replicas, is_of_cluster=True) as servers:
        _form(servers[:nodes], servers[nodes:])
        yield servers


@contextmanager
def _servers(count: int, is_of_cluster: bool) -> Iterator[list[PortRedis]]:
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    servers: list[PortRedis] = []
    try:
        program = find_redis(Search(""), server_user(), home / "binaries").program
        servers.extend(_start(program, home, is_of_cluster) for _ in range(count))
        yield servers
    finally:
        for server in servers:
            server.redis.close()
            server.kill()
        shutil.rmtree(home)


def _start(program: Path, home: Path, is_of_cluster: bool) -> PortRedis:
    """Again on other ports if other programs have taken these in the meantime."""
    for _ in range(_ATTEMPTS):
        server = PortRedis(program, home, is_of_cluster)
        _wait(server.is_up_or_has_ended)
        if not server.has_ended():
            return server
    raise TimeoutError("the ports of a server were always taken")


def _form(nodes: Sequence[PortRedis], replicas: Sequence[PortRedis]) -> None:
    share = SLOTS // len(nodes) + 1
    for number, node in enumerate(nodes):
        last = min(SLOTS, (number + 1) * share) - 1
        node.say("CLUSTER", "ADDSLOTSRANGE", number * share, last)
        node.say("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    servers = [*nodes, *replicas]
    for server in servers[1:]:
        server.say("CLUSTER", "MEET", HOST, nodes[0].port, nodes[0].bus)
    _wait(lambda: all(len(server.say("CLUSTER", "SHARDS")) == len(servers) for server in servers))
    _wait(lambda: all(server.is_in_cluster() for server in servers))
    for primary, replica in zip(nodes, replicas, strict=False):
        replica.say("CLUSTER", "REPLICATE", primary.say("CLUSTER", "MYID"))
    _wait(lambda: all(replica.has_its_primary() for replica in replicas))


def _wait(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_S
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError("the servers did not start, or form no cluster")
        time.sleep(_POLL_S)
