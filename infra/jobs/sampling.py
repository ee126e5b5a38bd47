"""Sampling audits: they check a few accounts of a shard at a time, and those found wrong before.

The report of each shard is in Redis:

    {"at_s": Unix seconds, "wrong": {account: wrong items}, "expected": items, "missing": items}
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec
import structlog

log = structlog.get_logger()


class SampleReport(msgspec.Struct):
    """What the samples of a shard found. `wrong`: items that are still wrong, by account.

    `expected`, `missing`: items of the last sample that could count them.
    """

    at_s: float = 0
    wrong: dict[int, int] = {}
    expected: int = 0
    missing: int = 0

    @property
    def complete_ratio(self) -> float:
        """The share of the expected items that were there; 1 where none were expected."""
        return 1 - self.missing / self.expected if self.expected else 1.0


class Sample(NamedTuple):
    """`wrong`: items by account. `expected`: how many items the truth has; None if not counted."""

    wrong: Mapping[int, int]
    expected: int | None = None


class SampleReports(Protocol):
    """Where the report of each shard is stored: `infra.caching.database_reports`."""

    def read(self, aliases: Sequence[str]) -> dict[str, SampleReport]: ...

    def store(self, alias: str, report: SampleReport) -> None: ...


@dataclass(frozen=True)
class SamplingAudit:
    """An audit without an end. `sample` and `recheck` belong to the app.

    `sample(alias, draw, known)` checks accounts after a random place, `draw` from 0 to 1, without
    those in `known`. `recheck(alias, known)` checks the known ones again; where it cannot tell, it
    returns what was known. `event`: logged as an error for accounts found wrong for the first time.
    """

    event: str
    reports: SampleReports
    max_wrong: int
    sample: Callable[[str, float, Mapping[int, int]], Sample]
    recheck: Callable[[str, Mapping[int, int]], Mapping[int, int]]

    def run(self, alias: str) -> None:
        """Audits accounts of one shard, as a periodic task. Cost: two round trips and the audit."""
        self.audit(alias, random.random())

    def audit(self, alias: str, draw: float) -> SampleReport:
        """The same at a given place; returns and stores the report. Raises: RedisError."""
        before = self.reports.read([alias]).get(alias, SampleReport())
        fresh = self.sample(alias, draw, before.wrong)
        if fresh.wrong:
            log.error(self.event, alias=alias, wrong=dict(fresh.wrong))
        wrong = {**self.recheck(alias, before.wrong), **fresh.wrong}
        report = SampleReport(
            at_s=time.time(),
            wrong=dict(sorted(wrong.items())[: self.max_wrong]),
            expected=before.expected,
            missing=before.missing,
        )
        if fresh.expected is not None:
            report.expected, report.missing = fresh.expected, sum(fresh.wrong.values())
        self.reports.store(alias, report)
        return report
