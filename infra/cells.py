"""CSV files whose cells are text: a program for tables runs none of them as a formula."""

import csv
import io
from collections.abc import Iterable

# What begins a formula somewhere. The sign before it is what such programs write themselves.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_TEXT = "'"


def write_csv(lines: Iterable[Iterable[object]]) -> str:
    """The lines as CSV. `read_cell` gives back what a cell was."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_as_text(str(cell)) for cell in line] for line in lines)
    return text.getvalue()


def read_cell(cell: str) -> str:
    """A cell without the sign that `write_csv` puts before a formula."""
    return cell[1:] if cell.startswith(_TEXT) and _is_marked(cell[1:]) else cell


def _as_text(cell: str) -> str:
    return _TEXT + cell if _is_marked(cell) else cell


def _is_marked(cell: str) -> bool:
    """Also a formula that has the sign already: else it would lose its own."""
    return cell.lstrip(_TEXT).startswith(_FORMULA)
