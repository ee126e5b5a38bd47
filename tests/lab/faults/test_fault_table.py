"""The table of faults: complete, true about the tests it names, and equal to the page."""

from lab.faults.experiments.registry import EXPERIMENTS
from lab.faults.report import PAGE, page_with_tables
from lab.faults.results import KeptResult, load_results
from lab.faults.security_checks import SECURITY
from lab.faults.table import ROWS, VERSIONS


def test_every_fault_and_check_has_a_row():
    assert [row.number for row in ROWS] == [f"F{n}" for n in range(1, 56)]
    assert [row.number for row in SECURITY] == [f"S{n}" for n in range(1, 23)]


def test_every_experiment_belongs_to_a_row():
    assert {one.row for one in EXPERIMENTS} <= {row.number for row in [*ROWS, *VERSIONS]}
    assert len({one.number for one in EXPERIMENTS}) == len(EXPERIMENTS)


def test_page_is_what_the_results_say():
    assert page_with_tables(PAGE.read_text(), load_results()) == PAGE.read_text()


def test_result_that_does_not_hold_is_said_so():
    wrong = KeptResult("F9", "a hang", "2026-11-22", 1, 10, 2, 0.5, ["slow"], ["no error"])
    page = page_with_tables(PAGE.read_text(), {"F9": wrong})
    assert "**does not hold** (F9, 2026-11-22): no error" in page


def test_experiments_of_a_row_that_held_are_one_state():
    names = ("F1a", "F1b")
    held = {name: KeptResult(name, "", "2026-11-22", 1, 10, 0, 0.5) for name in names}
    page = page_with_tables(PAGE.read_text(), held)
    assert "applied twice | held 2026-11-22 |" in page
