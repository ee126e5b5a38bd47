"""A whole Tideline: each shard its own PostgreSQL, Redis, two webs, two drainers, a compensator."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from infra.processes.free_ports import free_ports
from lab.faults.cluster.child_with_orders import OrderedProcess, obeying
from lab.faults.cluster.default_postgres import STOCK
from lab.faults.cluster.links import Links, linked, socket_path
from lab.faults.cluster.process import Armed, ArmedChild
from lab.faults.cluster.redis_nodes import RedisNodes, running_nodes
from lab.faults.cluster.store_answers import POSTGRES_QUESTION, REDIS_QUESTION, is_heard
from lab.faults.cluster.versions import command_of, environment_of
from lab.faults.cluster.with_failpoints import VARIABLE
from lab.faults.coverage.record import recording_environment
from lab.runner.child import CHECKOUT
from lab.runner.errors import ChildDidNotStart
from lab.runner.installation import Installation, throw_away_environment
from lab.runner.port import HOST, is_answering
from lab.runner.programs import compensator_command, worker_command
from lab.services import RunningServices, Server, running_services, throw_away_services
from lab.services.process_tree import kill_tree, pause_tree, resume_tree
from lab.services.throw_away import SEARCHED, StartServices

WEBS = ("web0", "web1")
DRAINERS = ("drainer0", "drainer1")
COMPENSATOR = "compensator"
# Not one of the processes that run all the time: the experiments with streams start it.
STREAMS = "streaming"
PROCESSES = (*WEBS, *DRAINERS, COMPENSATOR)
STREAMS_HEALTH = "/api/v1/streaming/health"
_THREADS = 4
_LINGER_S = 1.0
_FINISH_S = 10
_START_S = 60.0
_USUAL = partial(running_services, durable=False)
# No quota ends a run: the load is far above what one client may send.
_SETTINGS = {
    "QUOTA_PER_ACCOUNT": "1000000",
    "QUOTA_PER_APPLICATION": "100000000",
    "QUOTA_PER_ADDRESS": "1000000",
    "FOLLOWS_PER_DAY": "1000000",
    "LOG_LEVEL": "INFO",
}


class ClientAccount(NamedTuple):
    """An account that clients use. `alias`: the database of its rows.

    `tokens`: one for each client, because polls of one token share what they have seen.
    """

    id: int
    name: str
    tokens: list[str]
    alias: str


@dataclass
class Cluster(Installation):
    """`environment`: reaches the stores without the proxy. `checkout`: the code that the processes
    began with. `redis_nodes`: instead of the one Redis. `streams`: the streaming process, which is
    not started; `streams_port`: where it listens then."""

    processes: Mapping[str, ArmedChild]
    services: RunningServices
    links: Links
    backstage: OrderedProcess
    checkout: Path
    streams: ArmedChild
    streams_port: int
    redis_nodes: RedisNodes | None = None

    @property
    def stores(self) -> dict[str, Server]:
        """By name: default, shard0 …, and redis if it is one server."""
        return {server.name: server for server in self.services.servers}

    @property
    def drainers(self) -> list[str]:
        """DRAINERS, and more if the experiment wants them."""
        return [name for name in self.processes if name.startswith("drainer")]

    def start(self) -> None:
        """Starts all processes and returns when both webs are ready."""
        self.begin()
        self.wait_until_ready()
        self.wait_for_drainers()

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """The streaming process runs during the block."""
        try:
            self.begin_streams()
            yield
        finally:
            self.streams.stop()

    def begin_streams(self) -> None:
        """Starts it and returns when it answers. Raises ChildDidNotStart."""
        self.streams.begin()
        deadline = time.monotonic() + _START_S
        while not is_answering(self.streams_port, STREAMS_HEALTH):
            if not self.streams.is_running or time.monotonic() > deadline:
                raise ChildDidNotStart(STREAMS, self.streams.log)
            time.sleep(0.05)

    def wait_for_drainers(self) -> None:
        """Returns when all drainers have reported. Raises TimeoutError."""
        wanted = {self.processes[name].pid for name in self.drainers}
        deadline = time.monotonic() + _START_S
        while not wanted <= {*self.backstage.ask({"do": "drainers", "with": None})}:
            if time.monotonic() > deadline:
                raise TimeoutError("a drainer does not report")
            time.sleep(0.05)

    def stop(self, names: Sequence[str] = ()) -> list[str]:
        """As that of an installation, but everything is healed before."""
        self.heal()
        return super().stop(names)

    def heal(self) -> None:
        """Ends every fault: links open, hung and dead stores and processes run again."""
        self.links.open()
        for server in self.services.servers:
            self.revive_store(server.name)
        if self.redis_nodes is not None:
            self.redis_nodes.heal()
        for process in self.processes.values():
            process.resume()
            if not process.is_running:
                process.begin()

    def kill_store(self, name: str) -> None:
        server = self.stores[name]
        if server.is_running:
            kill_tree(server.process.pid)
            server.process.wait()

    def pause_store(self, name: str) -> None:
        if self.stores[name].is_running:
            pause_tree(self.stores[name].process.pid)

    def is_heard(self, name: str) -> bool:
        """Whether a store answers its smallest question now. It is asked past the proxy."""
        url = self.stores[name].url
        return is_heard(socket_path(url), REDIS_QUESTION if name == "redis" else POSTGRES_QUESTION)

    def revive_store(self, name: str) -> None:
        """A killed store starts, a hung one goes on."""
        server = self.stores[name]
        if server.is_running:
            resume_tree(server.process.pid)
        else:
            server.start()

    def attempt(
        self, *words: str, checkout: Path = CHECKOUT, armed: Armed | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a command to its end, past the proxy. It may fail."""
        return subprocess.run(
            command_of(checkout, ["manage.py", *words]),
            env=environment_of({**self.environment, VARIABLE: json.dumps(armed or {})}),
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )

    def migrate(self) -> None:
        """With the code that the processes begin with."""
        for words in (("migrate_shards", "--verbosity", "0"), ("backfill", "recent-posts")):
            self.attempt(*words, checkout=self.checkout).check_returncode()

    def make_people(self, count: int) -> list[ClientAccount]:
        return [
            ClientAccount(**person)
            for person in self.backstage.ask({"do": "people", "with": count})
        ]

    def count_undelivered(self) -> dict[str, int]:
        """pending, parked, paused: changes of all databases; unreachable: databases."""
        counts: dict[str, int] = self.backstage.ask({"do": "undelivered", "with": None})
        return counts

    def list_files(self) -> list[Path]:
        """The stored images."""
        return [path for path in Path(self.environment["MEDIA_DIR"]).rglob("*") if path.is_file()]

    def count_indexed(self, posts: Sequence[int]) -> dict[str, int]:
        """How many of the posts the recent-posts index of a shard has, for shards with any."""
        counts: dict[str, int] = self.backstage.ask({"do": "indexed", "with": list(posts)})
        return counts


@contextmanager
def running_cluster(
    settings: Mapping[str, str] | None = None,
    postgres_settings: Mapping[str, str] | None = None,
    checkout: Path = CHECKOUT,
    start: StartServices | None = None,
    on_redis_cluster: bool = False,
    drainers: Sequence[str] = DRAINERS,
) -> Iterator[Cluster]:
    """A cluster on servers of its own, gone when the block ends. Its logs are kept on failure.

    `checkout`: the code of its processes and the schema of its databases. `start`: starts other
    servers than the usual ones. `on_redis_cluster`: its Redis is a Redis Cluster.

    Safety: call it from the main thread.
    """
    stock = {**STOCK, **(postgres_settings or {})}
    with ExitStack() as stack:
        nodes = stack.enter_context(running_nodes()) if on_redis_cluster else None
        redis = nodes.environment if nodes else {}
        starting = partial(start or _USUAL, postgres_settings=stock)
        services = stack.enter_context(throw_away_services(starting, {**SEARCHED, **redis}))
        own = {**(settings or {}), **redis}
        cluster = _prepare(stack, services, own, checkout, (*WEBS, *drainers, COMPENSATOR))
        cluster.redis_nodes = nodes
        cluster.migrate()
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster


def _prepare(
    stack: ExitStack,
    services: RunningServices,
    settings: Mapping[str, str],
    checkout: Path,
    names: Sequence[str],
) -> Cluster:
    # Servers of which one is elected are reached by their own URL, which names all of them.
    behind_proxy = [*services.postgres.values(), *filter(None, [services.redis])]
    stores = {server.name: server.url for server in behind_proxy}
    all_names = (*names, STREAMS)
    targets = {f"{name}:{store}": url for name in all_names for store, url in stores.items()}
    links = stack.enter_context(linked(targets))
    served = (*WEBS, STREAMS)
    ports = dict(zip(served, free_ports(len(served)), strict=True))
    own = {**_SETTINGS, **settings, **recording_environment()}
    environment = throw_away_environment(services, own, ports["web0"])
    processes = {
        name: ArmedChild(
            name,
            _program(name, ports),
            services.logs / f"{name}.log",
            {**environment, **_proxied_urls(links, name, stores, services.environment())},
            checkout,
        )
        for name in all_names
    }
    streams, streams_port = processes.pop(STREAMS), ports.pop(STREAMS)
    backstage = stack.enter_context(obeying("lab.faults.cluster.backstage", environment, checkout))
    return Cluster(
        environment=environment,
        logs=services.logs,
        ports=ports,
        processes=processes,
        services=services,
        links=links,
        backstage=backstage,
        checkout=checkout,
        streams=streams,
        streams_port=streams_port,
    )


def _program(name: str, ports: Mapping[str, int]) -> list[str]:
    if name == STREAMS:
        where = ["--host", HOST, "--port", str(ports[name])]
        return ["web.streaming", *where, "--linger", str(_LINGER_S)]
    if name in ports:
        stop = ["--linger", str(_LINGER_S), "--finish", str(_FINISH_S)]
        threads = ["--workers", "1", "--threads", str(_THREADS)]
        return ["web", "--host", HOST, "--port", str(ports[name]), *threads, *stop]
    if name == COMPENSATOR:
        return compensator_command()
    return worker_command()


def _proxied_urls(
    links: Links, process: str, stores: Mapping[str, str], variables: Mapping[str, str]
) -> dict[str, str]:
    """The variables with the URLs by which one process reaches the stores: through its links."""
    proxied = {**variables}
    for name, url in stores.items():
        linked_url = links.url(f"{process}:{name}", url)
        proxied = {key: value.replace(url, linked_url) for key, value in proxied.items()}
    return proxied
