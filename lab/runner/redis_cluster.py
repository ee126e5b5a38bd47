"""Redis servers on ports of this machine, alone or as a cluster; each may be killed and started."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

from redis import Redis
from redis.exceptions import RedisError, ResponseError

from infra.processes.free_ports import free_ports
from lab.runner.port import HOST
from lab.services import Search
from lab.services.binaries import find_redis
from lab.services.server_user import server_user
from lab.services.spawn import server_environment, spawn
from lab.services.throw_away import PREFIX

SLOTS = 16_384
_START_S = 60.0
_POLL_S = 0.02
_ATTEMPTS = 5
# More settings of a node of a cluster, by the port on which the other nodes reach it.
SettingsOf = Callable[[int], Mapping[str, str]]
_OF_CLUSTER = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": "2000",
    "cluster-require-full-coverage": "no",
    "repl-diskless-sync-delay": "0",  # else a replica waits five seconds for others
}


class PortRedis:
    """One server on a port, and on a second one for the other nodes if it is of a cluster."""

    def __init__(self, program: Path, home: Path, settings_of: SettingsOf | None) -> None:
        self.port, self.bus = free_ports(2)
        folder = home / str(self.port)
        folder.mkdir(exist_ok=True)
        options = {"port": str(self.port), "bind": HOST, "dir": str(folder), "save": ""}
        if settings_of is not None:
            options |= {**_OF_CLUSTER, "cluster-port": str(self.bus), **settings_of(self.bus)}
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

    def pause(self) -> None:
        """It hangs, as SIGSTOP does."""
        self.process.send_signal(SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(SIGCONT)

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

    def has_all_data(self) -> bool:
        """Whether it is a primary, or a replica that follows one."""
        return self.is_primary() or self.has_its_primary()

    def refuse_primary(self) -> None:
        """It gets no more data, as a replica behind a bad network."""
        self.say("CONFIG", "SET", "primaryauth", "wrong")
        self.say("CLIENT", "KILL", "TYPE", "primary")

    def follow_primary(self) -> None:
        """Ends `refuse_primary`."""
        self.say("CONFIG", "SET", "primaryauth", "")

    def move_slots(self, to: "PortRedis", *ranges: int) -> None:
        """Valkey 9 moves them, each with all its keys at once. Raises TimeoutError.

        It begins again when something ends it: a node of a cluster is emptied after a failover.
        """
        words = "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE", to.say("CLUSTER", "MYID")

        def has_moved() -> bool:
            if not to.has_slot(ranges[0]):
                with suppress(ResponseError):  # it is on its way
                    self.say("CLUSTER", *words)
            return to.has_slot(ranges[0])

        wait_until(has_moved)

    def slots(self) -> list[int]:
        """Begins and ends of its ranges, as this node knows them."""
        [own] = [line for line in self.say("CLUSTER", "NODES").splitlines() if "myself" in line]
        ranges = [word.split("-") for word in own.split()[8:] if not word.startswith("[")]
        return [int(end) for slots in ranges for end in (slots[0], slots[-1])]

    def has_slot(self, slot: int) -> bool:
        ranges = iter(self.slots())
        return any(first <= slot <= last for first, last in zip(ranges, ranges, strict=True))

    def is_primary(self) -> bool:
        return bool(self.redis.info("replication")["role"] == "master")


@contextmanager
def port_redis() -> Iterator[PortRedis]:
    """A server alone, during the block."""
    with _servers(1, None) as [server]:
        yield server


@contextmanager
def redis_cluster(
    nodes: int = 3, replicas: int = 0, settings_of: SettingsOf = lambda _: {}
) -> Iterator[Sequence[PortRedis]]:
    """A cluster, during the block: primaries, and then replicas, of the first primaries one each.

    Cost: 2 s, and 1 more with replicas.
    """
    with _servers(nodes + replicas, settings_of) as servers:
        _form(servers[:nodes], servers[nodes:])
        yield servers


@contextmanager
def _servers(count: int, settings_of: SettingsOf | None) -> Iterator[list[PortRedis]]:
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    servers: list[PortRedis] = []
    try:
        program = find_redis(Search(""), server_user(), home / "binaries").program
        servers.extend(_start(program, home, settings_of) for _ in range(count))
        yield servers
    finally:
        for server in servers:
            server.redis.close()
            server.kill()
        shutil.rmtree(home)


def _start(program: Path, home: Path, settings_of: SettingsOf | None) -> PortRedis:
    """Again on other ports if other programs have taken these in the meantime."""
    for _ in range(_ATTEMPTS):
        server = PortRedis(program, home, settings_of)
        wait_until(server.is_up_or_has_ended)
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
    wait_until(
        lambda: all(len(server.say("CLUSTER", "SHARDS")) == len(servers) for server in servers)
    )
    wait_until(lambda: all(server.is_in_cluster() for server in servers))
    for primary, replica in zip(nodes, replicas, strict=False):
        replica.say("CLUSTER", "REPLICATE", primary.say("CLUSTER", "MYID"))
    wait_until(lambda: all(replica.has_its_primary() for replica in replicas))


def wait_until(is_done: Callable[[], bool], within_s: float = _START_S) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + within_s
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError("this does not come true")
        time.sleep(_POLL_S)
