"""The explorer finds each mutant: a safeguard that is missing breaks a history."""

import os
import sys

import pytest

from tests.interleavings.exploring import Explorer
from tests.interleavings.mutants import MUTANTS, Mutant
from tests.interleavings.scheduler import Threads

EXAMPLES = int(os.environ.get("EXAMPLES", "60"))
# That a mutant is found matters more than the simplest schedule.
SHRINKS = 3


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_missing_safeguard_is_found(
    threads: Threads, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant.apply(monkeypatch)
    explorer = Explorer(mutant.history, threads, EXAMPLES, SHRINKS)
    failure = explorer.find_failure()
    assert failure is not None
    sys.stdout.write(f"{mutant.name}: {explorer.tries} schedules, at last\n{failure}\n")
