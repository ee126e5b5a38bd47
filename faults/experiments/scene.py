"""Where an experiment happens: a cluster, accounts, a load, and what was found."""

import http.client
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from config.runner.port import HOST
from faults.cluster.cluster import Cluster
from faults.cluster.log_faults import LogWatch
from faults.experiments.types import ExperimentResult, Finding
from faults.history.promises import Span
from faults.load.balancer import Balancer
from faults.load.figures import LoadFigures, between, figures, recovery_s
from faults.load.load import Load
from faults.nemesis import Nemesis

ACCOUNTS = 24
ALL_SHARDS = frozenset(("shard0", "shard1", "shard2", "shard3"))
_ASK_LIVE_EVERY_S = 0.2
_LIVE_WITHIN_S = 1.0


class Scene:
    """`spans`: when something was broken. `seed` decides all that is drawn."""

    def __init__(self, cluster: Cluster, result: ExperimentResult, seed: int) -> None:
        self.cluster = cluster
        self.seed = seed
        self.result = result
        self.nemesis = Nemesis(cluster)
        self.balancer = Balancer(cluster.ports)
        self.accounts = cluster.make_people(ACCOUNTS)
        self.load = Load(self.accounts, self.balancer, seed)
        self.logs = LogWatch({name: one.log for name, one in cluster.processes.items()})
        self.spans: list[Span] = []

    def check(self, held: bool, what: str, detail: object = "") -> None:
        self.result.findings.append(Finding(held, what, str(detail)))

    def note(self, text: str) -> None:
        """A figure for the table."""
        self.result.figures.append(text)

    @contextmanager
    def under_load(self, calls_per_s: float = 40.0) -> Iterator[None]:
        self.load.calls_per_s = calls_per_s
        with self.load.running():
            yield

    @contextmanager
    def broken(self) -> Iterator[None]:
        """The time in which something is broken; the block breaks it and heals it."""
        began_s = time.monotonic()
        try:
            yield
        finally:
            self.spans.append(Span(began_s, time.monotonic()))

    def during(
        self,
        span: Span,
        aliases: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
    ) -> LoadFigures:
        """The figures of the calls that began in the span."""
        return figures(between(self.load.timings, span.began_s, span.ended_s, aliases, kinds))

    def idle(self, aliases: Collection[str] | None = None) -> LoadFigures:
        """The figures of the calls before the first fault."""
        first_s = min((span.began_s for span in self.spans), default=time.monotonic())
        return figures(between(self.load.timings, 0.0, first_s, aliases))

    def recovered_s(self) -> float:
        """From the end of the last fault until the last error."""
        return recovery_s(self.load.timings, self.spans[-1].ended_s) if self.spans else 0.0

    @contextmanager
    def watching_live(self) -> Iterator[None]:
        """During the block /health/live of both webs must always answer."""
        over, missed = threading.Event(), list[float]()
        threads = [
            threading.Thread(target=_ask_live, args=(port, over, missed), daemon=True)
            for port in self.cluster.ports.values()
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.check(not missed, "/health/live always answers", f"{len(missed)} without an answer")


def _ask_live(port: int, over: threading.Event, missed: list[float]) -> None:
    while not over.wait(_ASK_LIVE_EVERY_S):
        connection = http.client.HTTPConnection(HOST, port, timeout=_LIVE_WITHIN_S)
        try:
            connection.request("GET", "/health/live")
            if connection.getresponse().status != http.HTTPStatus.OK:
                missed.append(time.monotonic())
        except (OSError, http.client.HTTPException):
            missed.append(time.monotonic())
        finally:
            connection.close()
