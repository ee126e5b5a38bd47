"""The last result of each experiment, kept in `results.json` next to this module."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lab.faults.experiments.types import ExperimentResult

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class KeptResult:
    """`failed`: what did not hold, in the words of the findings."""

    number: str
    title: str
    date: str
    seed: int
    calls: int
    errors: int
    recovered_s: float
    figures: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    skipped: str = ""


def load_results() -> dict[str, KeptResult]:
    """By number of the experiment."""
    return {fields["number"]: KeptResult(**fields) for fields in json.loads(FILE.read_text())}


def keep_results(results: Iterable[ExperimentResult]) -> None:
    """Replaces the kept results of these experiments."""
    kept = load_results() | {result.number: _kept(result) for result in results}
    rows = [asdict(kept[number]) for number in sorted(kept)]
    FILE.write_text(json.dumps(rows, indent=2) + "\n")


def _kept(result: ExperimentResult) -> KeptResult:
    return KeptResult(
        number=result.number,
        title=result.title,
        date=datetime.now(UTC).date().isoformat(),
        seed=result.seed,
        calls=result.calls,
        errors=result.errors,
        recovered_s=round(result.recovered_s, 1),
        figures=result.figures,
        skipped=result.skipped,
        failed=[finding.what for finding in result.findings if not finding.held],
    )
