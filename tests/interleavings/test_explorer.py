"""The explorer finds each mutant: a safeguard that is missing breaks a history.

The second process of the histories: it may stop as long as an actor of the test's process.
"""

import os
import sys
from functools import partial

import pytest

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from tests.interleavings.exploring import Explorer
from tests.interleavings.mutants import MUTANTS, Mutant
from tests.interleavings.scheduler import Threads
from tests.interleavings.second_process import second_process

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


LIMIT = partial(fetch_one, GLOBAL_ALIAS, "SHOW idle_session_timeout", ())


def test_sessions_of_both_processes_may_idle_equally_long(
    second_process_ended: None, world: None
) -> None:
    """A transaction that has sent no statement is idle for the server, and its session cannot be
    replaced."""
    assert second_process().ask(LIMIT) == LIMIT() == ("2min",)
