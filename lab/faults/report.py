"""The tables of the page on fault experiments, from the kept results (lab/reference)."""

from collections.abc import Mapping, Sequence

from lab.faults.results import KeptResult
from lab.faults.security_checks import SECURITY
from lab.faults.table import ROWS, VERSIONS, TableRow


def fault_tables(results: Mapping[str, KeptResult]) -> str:
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
