"""What an experiment is, and what came out of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lab.faults.cluster.cluster import DRAINERS
from lab.services.throw_away import StartServices

if TYPE_CHECKING:
    from lab.faults.experiments.scene import Scene


@dataclass(frozen=True)
class Experiment:
    """`number`: of the row in the table; a letter behind it tells variants apart ("F34b").

    `settings` and `postgres_settings`: it needs a cluster of its own with them. `start`: or one
    with other servers, which this starts. `begins_old`: it needs one of the old version.
    `on_redis_cluster`: it needs one with a Redis Cluster. `drainers`: and one with these. `in_ci`:
    it is in the selection for CI. `has_fault`: something is broken, and not only crowded.
    """

    number: str
    title: str
    run: "Callable[[Scene], None]"
    in_ci: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    postgres_settings: Mapping[str, str] = field(default_factory=dict)
    start: StartServices | None = None
    begins_old: bool = False
    on_redis_cluster: bool = False
    drainers: Sequence[str] = DRAINERS
    has_fault: bool = True

    @property
    def needs_own_cluster(self) -> bool:
        needs = self.settings, self.postgres_settings, self.start, self.begins_old
        return any([*needs, self.on_redis_cluster]) or self.drainers != DRAINERS

    @property
    def row(self) -> str:
        return self.number.rstrip("abcdefgh")


class ExperimentSkipped(Exception):
    """This machine cannot run the experiment; the text says why."""


class Finding(NamedTuple):
    """One thing that was checked. `needs_quiet`: a crowded machine alone can break it."""

    held: bool
    what: str
    detail: str = ""
    needs_quiet: bool = False


@dataclass
class ExperimentResult:
    """`figures` are short texts for the table. `skipped`: why it did not run."""

    number: str
    title: str
    seed: int
    took_s: float = 0.0
    calls: int = 0
    errors: int = 0
    recovered_s: float = 0.0
    lost: int = 0
    skipped: str = ""
    findings: list[Finding] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not self.skipped and all(finding.held for finding in self.findings)

    @property
    def was_only_slow(self) -> bool:
        """All that does not hold is a latency or a refusal: a quiet machine may keep them."""
        broken = [finding for finding in self.findings if not finding.held]
        return bool(broken) and all(finding.needs_quiet for finding in broken)
