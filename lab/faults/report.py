"""Writes the tables of docs/explanation/fault-experiments.md from the kept results."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.faults.results import KeptResult, load_results
from lab.faults.security_checks import SECURITY
from lab.faults.table import ROWS, VERSIONS, TableRow
from lab.runner.child import CHECKOUT

PAGE = CHECKOUT / "docs/explanation/fault-experiments.md"
_BEGIN, _END = "<!-- written by python -m lab.faults -->\n", "<!-- end -->\n"


def write_page(page: Path = PAGE) -> None:
    page.write_text(page_with_tables(page.read_text(), load_results()))


def page_with_tables(text: str, results: Mapping[str, KeptResult]) -> str:
    """The text with what is between the two marks replaced."""
    before, tail = text.split(_BEGIN)
    _, after = tail.split(_END)
    return f"{before}{_BEGIN}\n{tables(results)}\n{_END}{after}"


def tables(results: Mapping[str, KeptResult]) -> str:
    parts = ["## Faults", _table(ROWS, results), "## Two versions", _table(VERSIONS, results)]
    parts += ["## Security", _table(SECURITY, results)]
    return "\n\n".join(parts)


def _table(rows: Sequence[TableRow], results: Mapping[str, KeptResult]) -> str:
    lines = ["| # | fault | promise | state |", "|---|---|---|---|"]
    lines += [
        f"| {row.number} | {row.fault} | {row.promise} | {_state(row, results)} |" for row in rows
    ]
    return "\n".join(lines)


def _state(row: TableRow, results: Mapping[str, KeptResult]) -> str:
    own = [result for result in results.values() if result.number.rstrip("abcdefgh") == row.number]
    if own:
        return "; ".join(dict.fromkeys(map(_result_state, own)))
    if row.shown_by:
        return f"held: `{row.shown_by.rpartition('::')[2]}`"
    return f"not run: {row.why_not}" if row.why_not else "not run"


def _result_state(result: KeptResult) -> str:
    if result.skipped:
        return f"not run: {result.skipped} ({result.number}, {result.date})"
    if not result.failed:
        return f"held {result.date}"
    return f"**does not hold** ({result.number}, {result.date}): {', '.join(result.failed)}"
