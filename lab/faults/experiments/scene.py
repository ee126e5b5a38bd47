"""Where an experiment happens: a cluster, accounts, a load, and what was found."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from lab.faults.cluster.cluster import ClientAccount, Cluster
from lab.faults.cluster.log_faults import LogWatch
from lab.faults.experiments.types import ExperimentResult, Finding
from lab.faults.history.promises import Span
from lab.faults.load.balancer import Balancer
from lab.faults.load.figures import LoadFigures, between, figures, recovery_s
from lab.faults.load.load import Load
from lab.faults.load.probe import probing
from lab.faults.nemesis import Nemesis

ACCOUNTS = 24
ALL_SHARDS = frozenset(("shard0", "shard1", "shard2", "shard3"))
_ASK_LIVE_EVERY_S = 0.2


class Scene:
    """`spans`: when something was broken. `seed` decides all that is drawn. `proofs`: how often it
    was looked whether a fault happened.

    `slack`: how many times the promise a latency may be.
    """

    def __init__(
        self, cluster: Cluster, result: ExperimentResult, seed: int, slack: float = 1.0
    ) -> None:
        self.cluster = cluster
        self.seed = seed
        self._slack = slack
        self.result = result
        self.nemesis = Nemesis(cluster)
        self.balancer = Balancer(cluster.ports)
        self.accounts = cluster.make_people(ACCOUNTS)
        self.load = Load(self.accounts, self.balancer, seed)
        processes = (*cluster.processes.values(), cluster.streams)
        self.logs = LogWatch({process.name: process.log for process in processes})
        self.spans: list[Span] = []
        self.proofs = 0

    def check(self, held: bool, what: str, detail: object = "") -> None:
        self.result.findings.append(Finding(held, what, str(detail)))

    def check_happened(self, has_happened: bool, what: str, detail: object = "") -> None:
        """Each experiment asks the store, the proxy or the log whether its fault was there: without
        it, that all promises hold says nothing."""
        self.proofs += 1
        self.check(has_happened, what, detail)

    def check_armed(self, *failpoints: str) -> None:
        missed = [failpoint for failpoint in failpoints if not self.logs.has_happened(failpoint)]
        self.check_happened(not missed, "each armed failpoint was passed", missed)

    def check_latency(self, found_ms: float, promised_ms: float, what: str) -> None:
        bound_ms = self._slack * promised_ms
        detail = f"{found_ms:.0f} ms, bound {bound_ms:.0f} ms"
        self.result.findings.append(Finding(found_ms <= bound_ms, what, detail, needs_quiet=True))

    def check_no_errors(self, errors: Mapping[int, int], what: str = "no error") -> None:
        """`errors`: answers by status. Too little processor time refuses only with 503."""
        needs_quiet = errors.keys() <= {HTTPStatus.SERVICE_UNAVAILABLE}
        self.result.findings.append(Finding(not errors, what, str(dict(errors)), needs_quiet))

    def note(self, text: str) -> None:
        """A figure for the table."""
        self.result.figures.append(text)

    def make_load(
        self,
        people: Sequence[ClientAccount],
        calls_per_s: float,
        weights: Mapping[str, int],
        sharers: int = 0,
    ) -> Load:
        """A load next to the scene's own, with clients of its own numbers. `judge_too` ends it."""
        load = Load(people, self.balancer, self.seed, calls_per_s, weights, sharers)
        for session in load.sessions:
            session.client += len(self.load.sessions)
        return load

    def judge_too(self, load: Load) -> None:
        """From now on the calls of this load belong to the scene's history and figures."""
        self.load.sessions.extend(load.sessions)
        self.load.timings.extend(load.timings)

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
        missed: list[int] = []

        def keep(port: int, is_answered: bool) -> None:
            if not is_answered:
                missed.append(port)

        ports = self.cluster.ports.values()
        with probing(ports, "/health/live", _ASK_LIVE_EVERY_S, keep):
            yield
        self.check(not missed, "/health/live always answers", f"{len(missed)} without an answer")
