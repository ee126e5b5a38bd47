"""The table of faults: complete, and true about the tests it names.

The table of mutants is what the last trials said.

Mutants are data that stay true: each applies to the product exactly once.

Programs run with failpoints armed; passes of forked processes count together.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.faults.cluster.with_failpoints import EXIT_CODE, HAPPENED, VARIABLE
from lab.faults.experiments.registry import EXPERIMENTS
from lab.faults.experiments.types import Finding
from lab.faults.mutants.catalogue import MUTANTS
from lab.faults.mutants.mutant import Edit, Mutant, MutantDoesNotApply, apply_mutant
from lab.faults.mutants.report import KeptTrial, mutant_table, summary_of
from lab.faults.mutants.run import Trial, read_trial
from lab.faults.mutants.trial import find_experiment, is_caught_by
from lab.faults.report import fault_tables
from lab.faults.results import KeptResult
from lab.faults.security_checks import SECURITY
from lab.faults.table import ROWS, VERSIONS
from lab.runner.child import CHECKOUT


def test_every_fault_and_check_has_a_row():
    assert [row.number for row in ROWS] == [f"F{n}" for n in range(1, 56)]
    assert [row.number for row in SECURITY] == [f"S{n}" for n in range(1, 23)]


def test_every_experiment_belongs_to_a_row():
    assert {one.row for one in EXPERIMENTS} <= {row.number for row in [*ROWS, *VERSIONS]}
    assert len({one.number for one in EXPERIMENTS}) == len(EXPERIMENTS)


def test_result_that_does_not_hold_is_said_so():
    wrong = KeptResult("F9", "a hang", "2026-11-22", 1, 10, 2, 0.5, ["slow"], ["no error"])
    page = fault_tables({"F9": wrong})
    assert "**does not hold** (F9, 2026-11-22): no error" in page


def test_experiments_of_a_row_that_held_are_one_state():
    names = ("F1a", "F1b")
    held = {name: KeptResult(name, "", "2026-11-22", 1, 10, 0, 0.5) for name in names}
    page = fault_tables(held)
    assert "applied twice | held 2026-11-22 |" in page


def test_mutant_that_is_not_caught_is_said_so() -> None:
    trials = {"no row lock": KeptTrial("F19a", 1, "not caught", "")}
    page = mutant_table(trials)
    assert (
        "| no row lock | A write does not lock the row of its account. | **not caught** (F19a) |"
        in page
    )


def test_page_names_each_kind_of_finding_once() -> None:
    by = "audit 1 finds nothing; audit 2 finds nothing; all answers can be right: gone (3)"
    trials = {"no row lock": KeptTrial("F19a", 1, "caught", by)}
    assert "| F19a: audits, answers |" in mutant_table(trials)


def test_rules_are_counted_in_the_summary() -> None:
    found = [("all answers can be right", "{'own write': 2, 'gone': 1}: gone: Seen('lost': 3)")]
    trial = Trial("a", "F19a", [*found, ("audit 1 finds nothing", "text")])
    expected = "all answers can be right: own write (2), gone (1); audit 1 finds nothing"
    assert summary_of(trial) == expected


def test_the_last_line_of_a_trial_counts() -> None:
    found = json.dumps({"found": [["audit 1 finds nothing", ""]], "broken": "a read failed"})
    trial = read_trial("a", "F19a", f"seed 1\n{found}", "")
    assert trial.is_caught
    assert not trial.broken
    assert not read_trial("a", "F19a", '{"found": [], "broken": ""}', "").is_caught


def test_an_experiment_that_broke_gives_no_verdict() -> None:
    assert read_trial("a", "F19a", '{"found": [], "broken": "503"}', "").broken == "503"
    assert read_trial("a", "F19a", "", "no such module").broken == "no such module"


def test_mutants_have_names_of_their_own_and_experiments() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12
    assert all(find_experiment(number) for one in MUTANTS for number in one.experiments)
    assert all(one.experiments or one.tests for one in MUTANTS)


@pytest.mark.parametrize("text", ["nothing", "lock lock"])
def test_edit_that_does_not_apply_once_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "locks.py").write_text(text)
    mutant = Mutant("no lock", "", ("F19a",), (Edit("locks.py", "lock", ""),))
    with pytest.raises(MutantDoesNotApply):
        apply_mutant(mutant, tmp_path)
    assert (tmp_path / "locks.py").read_text() == text


def test_latencies_catch_no_mutant() -> None:
    assert not is_caught_by(Finding(False, "p99 at most 2 x idle"))
    assert is_caught_by(Finding(False, "all answers can be right"))
    assert not is_caught_by(Finding(True, "all answers can be right"))


PROGRAM = """
import multiprocessing, os
from infra.changes.failpoints import failpoint
multiprocessing.set_start_method("fork")
for number in range(3):
    child = os.fork()
    if not child:
        failpoint("place")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def run(tmp_path: Path, armed: object) -> tuple[list[int], str]:
    """The exit codes, and the log."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "-m", "lab.faults.cluster.with_failpoints", str(program)],
        env=os.environ | {VARIABLE: json.dumps(armed), "PYTHONPATH": str(CHECKOUT)},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(line) for line in ended.stdout.split()], ended.stderr


def test_the_chosen_pass_exits_and_no_other_and_the_log_says_so(tmp_path):
    codes, log = run(tmp_path, {"place": {"do": "exit", "after": 1}})
    assert codes == [0, EXIT_CODE, 0]
    assert log.count(f"{HAPPENED}place\n") == 1


def test_nothing_armed_does_nothing(tmp_path):
    codes, log = run(tmp_path, {})
    assert (codes, HAPPENED in log) == ([0, 0, 0], False)
