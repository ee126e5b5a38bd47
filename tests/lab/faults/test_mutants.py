"""Mutants are data that stay true: each applies to the product exactly once."""

from pathlib import Path

import pytest

from lab.faults.experiments.types import Finding
from lab.faults.mutants.catalogue import MUTANTS
from lab.faults.mutants.mutant import Edit, Mutant, MutantDoesNotApply, apply_mutant
from lab.faults.mutants.trial import find_experiment, is_caught_by


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
