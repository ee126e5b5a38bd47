"""Writes the tables of docs/explanation/fault-experiments.md from the kept results."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from config.runner.child import CHECKOUT
from faults.results import KeptResult, load_results
from faults.table import ROWS, SECURITY, VERSIONS, TableRow

PAGE = CHECKOUT / "docs/explanation/fault-experiments.md"
_BEGIN, _END = "<!-- written by python -m faults -->\n", "<!-- end -->\n"


def write_page(page: Path = PAGE) -> None:
    page.write_text(page_with_tables(page.read_text(), load_results()))


def page_with_tables(text: str, results: Mapping[str, KeptResult]) -> str:
    """The text with what is between the two marks replaced."""
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    return f"{before}{_BEGIN}\n{tables(results)}\n{_END}{after}"


def tables(results: Mapping[str, KeptResult]) -> str:
    parts = ["## Faults", _table(ROWS, results), "## Two versions", _table(VERSIONS, results)]
    parts += ["## Security", _table(SECURITY, results)]
    parts += ["## Figures of the experiments", _figures(results)]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[TableRow], results: Mapping[str, KeptResult]) -> str:
    lines = ["| # | fault | promise | state |", "|---|---|---|---|"]
    lines += [
        f"| {row.number} | {row.fault} | {row.promise} | {_state(row, results)} |" for row in rows
    ]
    return "\n".join(lines)


def _state(row: TableRow, results: Mapping[str, KeptResult]) -> str:
    own = [result for result in results.values() if result.number.rstrip("abcdefgh") == row.number]
    if own:
        return "; ".join(_result_state(result) for result in own)
    if row.shown_by:
        path, _, name = row.shown_by.partition("::")
        return f"held: `{name}` in `{path.rpartition('/')[2]}`"
    return f"not run: {row.why_not}" if row.why_not else "not run"


def _result_state(result: KeptResult) -> str:
    if result.skipped:
        return f"not run: {result.skipped} ({result.number}, {result.date})"
    if not result.failed:
        return f"held ({result.number}, {result.date})"
    return f"**does not hold** ({result.number}, {result.date}): {', '.join(result.failed)}"


def _figures(results: Mapping[str, KeptResult]) -> str:
    lines = [
        "| # | what happened | seed | calls | errors | quiet after | figures |",
        "|---|---|---|---|---|---|---|",
        *map(_figures_of, results.values()),
    ]
    return "\n".join(lines) if results else "No experiment has been run yet."


def _figures_of(result: KeptResult) -> str:
    return (
        f"| {result.number} | {result.title} | {result.seed} | {result.calls} | {result.errors} |"
        f" {result.recovered_s} s | {'; '.join(result.figures)} |"
    )
