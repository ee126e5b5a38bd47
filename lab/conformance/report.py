"""The results: as text for a terminal, and kept for the page of the docs (lab/reference)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lab.conformance.types import ClientVerdict, JudgedTest, SuiteResult

FILE = Path(__file__).with_name("results.json")
_WIDEST = 110


@dataclass(frozen=True)
class KeptSuite:
    """The last result of one suite. `not_applicable`: the number of tests by reason."""

    suite: str
    client: str
    date: str
    passed: int
    blind: int
    failed: list[str] = field(default_factory=list)
    not_applicable: dict[str, int] = field(default_factory=dict)


def text_of(result: SuiteResult) -> str:
    """The suite's line, and a line for each test that is not as it should be."""
    counts = ", ".join(
        f"{result.count(verdict)} {verdict}" for verdict in ClientVerdict if result.count(verdict)
    )
    wrong = result.list_of(ClientVerdict.FAILED) + result.list_of(ClientVerdict.SUPERFLUOUS)
    lines = [f"{result.suite} ({result.client}): {counts}", *map(_line_of, wrong)]
    lines += [f"  {count:4} not applicable: {why}" for why, count in _reasons(result).items()]
    return "\n".join(lines)


def keep_results(results: Sequence[SuiteResult]) -> None:
    """Replaces the kept results of these suites."""
    kept = _load_kept() | {result.suite: _kept(result) for result in results}
    FILE.write_text(json.dumps([asdict(kept[name]) for name in sorted(kept)], indent=2) + "\n")


def kept_results() -> str:
    """A table of all suites, and what each of them lacks."""
    kept = _load_kept()
    return "\n\n".join([_table(kept), *(_details(kept[name]) for name in sorted(kept))])


def _line_of(test: JudgedTest) -> str:
    first = test.text.partition("\n")[0]
    return f"  {test.verdict.upper()} {test.name}: {first}"[:_WIDEST]


def _reasons(result: SuiteResult) -> dict[str, int]:
    counts: dict[str, int] = {}
    for test in result.list_of(ClientVerdict.NOT_APPLICABLE):
        counts[test.text] = counts.get(test.text, 0) + 1
    return counts


def _load_kept() -> dict[str, KeptSuite]:
    return {suite["suite"]: KeptSuite(**suite) for suite in json.loads(FILE.read_text())}


def _kept(result: SuiteResult) -> KeptSuite:
    wrong = result.list_of(ClientVerdict.FAILED) + result.list_of(ClientVerdict.SUPERFLUOUS)
    return KeptSuite(
        suite=result.suite,
        client=result.client,
        date=datetime.now(UTC).date().isoformat(),
        passed=result.count(ClientVerdict.PASSED),
        blind=result.count(ClientVerdict.BLIND),
        failed=[test.name for test in wrong],
        not_applicable=_reasons(result),
    )


def _table(kept: dict[str, KeptSuite]) -> str:
    lines = [
        "| client | date | passed | failed | not applicable | shows nothing |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {suite.client} | {suite.date} | {suite.passed} | {len(suite.failed)} |"
        f" {sum(suite.not_applicable.values())} | {suite.blind} |"
        for _, suite in sorted(kept.items())
    ]
    return "\n".join(lines)


def _details(suite: KeptSuite) -> str:
    lines = [f"## {suite.client}", ""]
    lines += [f"- fails: `{name}`" for name in suite.failed]
    lines += [f"- {count} not applicable: {why}" for why, count in suite.not_applicable.items()]
    return "\n".join(lines if len(lines) > 2 else [*lines, "Every test passes."])
