"""A real Redis Cluster of three nodes, each of which a test may kill and bring back."""

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import RedisError
from redis.retry import Retry

from infra.caching.client import FeedRedis
from infra.caching.cluster import ClusterClient
from lab.runner.port import free_ports
from lab.services import Search
from lab.services.binaries import find_redis
from lab.services.server_user import server_user
from lab.services.spawn import server_environment, spawn
from tests.waiting import until

SLOTS = 16_384


class Node:
    """One server of the cluster, its bus beside it, on loopback."""

    def __init__(self, program: Path, home: Path) -> None:
        self.port, self.bus = free_ports(2)
        folder = home / str(self.port)
        folder.mkdir()
        options = {
            "port": self.port, "cluster-port": self.bus, "bind": "127.0.0.1",
            "cluster-enabled": "yes", "cluster-node-timeout": 2_000,
            "cluster-require-full-coverage": "no", "dir": folder, "save": "",
        }  # fmt: skip
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        self.command, self.log = [str(program), *words], folder / "log"
        self.start()
        self.redis = Redis(port=self.port, protocol=2, decode_responses=True)

    def start(self) -> None:
        self.process = spawn(self.command, self.log, env=server_environment())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def say(self, *command: object) -> str:
        return self.redis.execute_command(*command)

    def is_up(self) -> bool:
        try:
            return bool(self.redis.ping())
        except RedisError:
            return False


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    home = Path(tempfile.mkdtemp(prefix="tideline-test-"))
    program = find_redis(Search(""), server_user(), tmp_path_factory.mktemp("copies")).program
    members = [Node(program, home) for _ in range(3)]
    try:
        form(members)
        yield members
    finally:
        for node in members:
            node.redis.close()
            node.kill()
        shutil.rmtree(home)


def form(members):
    until(lambda: all(node.is_up() for node in members))
    share = SLOTS // len(members) + 1
    for number, node in enumerate(members):
        last = min(SLOTS, (number + 1) * share) - 1
        node.say("CLUSTER", "ADDSLOTSRANGE", number * share, last)
        node.say("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        node.say("CLUSTER", "MEET", "127.0.0.1", members[0].port, members[0].bus)
    until(lambda: all("cluster_state:ok" in info(node) for node in members))
    until(lambda: all(len(node.say("CLUSTER", "SHARDS")) == 3 for node in members))


def info(node):
    found = node.say("CLUSTER", "INFO")
    return found if isinstance(found, str) else f"cluster_state:{found['cluster_state']}"


@pytest.fixture
def cluster(nodes, monkeypatch):
    """The client of these modules, set to the cluster."""
    for node in nodes:
        node.say("FLUSHALL")
    options = {"socket_timeout": 1, "protocol": 2, "retry": Retry(NoBackoff(), 0)}
    url = f"redis://127.0.0.1:{nodes[0].port}"
    feed = FeedRedis(ClusterClient(partial(RedisCluster.from_url, url, **options)))
    caching = ("loading", "load_tokens", "questions", "round_trips")
    for module in (*(f"infra.caching.{name}" for name in caching), "timelines.stores.packed"):
        monkeypatch.setattr(f"{module}.redis", lambda: feed)
    return feed


def owns(node, slot):
    [mine] = [s for s in node.say("CLUSTER", "SHARDS") if str(node.port) in str(s)]
    ranges = iter(mine["slots"] if isinstance(mine, dict) else mine[1])
    return any(low <= slot <= high for low, high in pairs(ranges))


def pairs(numbers):
    flat = [n for item in numbers for n in (item if isinstance(item, (list, tuple)) else [item])]
    return zip(map(int, flat[::2]), map(int, flat[1::2]), strict=True)


def name_on(node):
    return next(name for n in range(10_000) if owns(node, key_slot(name := b"{%d}" % n)))
