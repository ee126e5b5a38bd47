"""What the fault experiments say about the product and its tests stays true when these change."""

import re
from pathlib import Path

import pytest

from lab.faults.coverage.points import APPS, find_points
from lab.faults.coverage.report import ELSEWHERE
from lab.faults.mutants.catalogue import MUTANTS
from lab.faults.mutants.mutant import Mutant, mutated
from lab.faults.security_checks import SECURITY
from lab.faults.table import ROWS
from lab.runner.child import CHECKOUT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_applies_exactly_once(mutant: Mutant) -> None:
    for edit in mutant.edits:
        text = (Path(CHECKOUT) / edit.path).read_text()
        changed = mutated(text, edit)
        assert changed != text
        if edit.path.endswith(".py"):
            compile(changed, edit.path, "exec")


def test_tests_that_mutants_and_the_table_of_faults_name_exist() -> None:
    named = [test for one in MUTANTS for test in one.tests]
    named += [row.shown_by for row in [*ROWS, *SECURITY] if row.shown_by]
    for test in named:
        path, _, name = test.partition("::")
        text = (Path(CHECKOUT) / path).read_text()
        assert re.search(rf"^(?:async )?def {name}\b", text, re.MULTILINE), test


def test_points_of_other_tests_are_in_those_tests() -> None:
    assert {*ELSEWHERE} <= {*find_points()}
    for name, test in ELSEWHERE.items():
        path, _, text = test.partition("::")
        assert (text or name) in (Path(CHECKOUT) / path).read_text()


def test_points_are_looked_for_in_every_app() -> None:
    """An app that is forgotten has points that no run misses."""
    arming = {
        path.relative_to(CHECKOUT).parts[0]
        for path in Path(CHECKOUT).glob("*/**/*.py")
        if "failpoint(" in path.read_text()
    }
    assert arming - {"tests", "lab"} <= {*APPS}


def test_a_branch_has_a_name_of_its_own() -> None:
    """Only failpoints may be at two places: there they end the same step."""
    twice = {name for name, places in find_points().items() if len(places) > 1}
    assert twice == {"drain.before_commit", "relations.list_read"}
