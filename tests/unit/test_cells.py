"""Cells of CSV files: no program for tables runs one, and each is read as it was."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.cells import read_cell, write_csv

TEXTS = st.text(st.sampled_from("=+-@\t'a\",b"), max_size=6)


@pytest.mark.parametrize("sign", "=+-@\t\r")
def test_what_begins_a_formula_begins_a_text(sign: str) -> None:
    assert write_csv([[f"{sign}1"]]).lstrip('"').startswith(f"'{sign}1")


def test_other_texts_stay_as_they_are() -> None:
    assert write_csv([["a=", 1, "it's", "'tis"]]) == "a=,1,it's,'tis\n"


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_cells_are_read_as_they_were(cells: list[str]) -> None:
    [row] = csv.reader(io.StringIO(write_csv([cells]), newline=""))
    assert [read_cell(cell) for cell in row] == cells
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in row)
