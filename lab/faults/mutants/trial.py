"""Runs one experiment and prints what judges found: python -m lab.faults.mutants.trial F18 SEED.

It runs in a copy of the checkout that has a mutant. Latencies are left out: they show the machine.
"""

import json
import sys

from lab.faults.experiments.registry import EXPERIMENTS
from lab.faults.experiments.types import Experiment, Finding
from lab.faults.runner import run_all
from lab.run import stop_on_signals

# How the findings of lab/faults/judge.py begin, and those of experiments that judge more.
JUDGED = (
    "all answers",
    "the end state",
    "audit",
    "nothing waits",
    "each place was reached",
    "no row of a deleted post",
    "nothing is shown",
)
# How the runner reports that the experiment itself broke.
BROKEN = "the experiment ran to its end"


def main() -> None:
    """The last line is JSON: what was found, and whether the experiment itself broke."""
    number, seed = sys.argv[1], int(sys.argv[2])
    with stop_on_signals():
        [result] = run_all([find_experiment(number)], seed)
    caught = [finding for finding in result.findings if is_caught_by(finding)]
    broken = [
        finding.detail for finding in result.findings if finding.what == BROKEN and not finding.held
    ]
    told = {
        "found": [[finding.what, finding.detail] for finding in caught],
        "broken": " ".join(broken),
    }
    print(json.dumps(told), flush=True)


def find_experiment(number: str) -> Experiment:
    """Raises: StopIteration."""
    return next(experiment for experiment in EXPERIMENTS if experiment.number == number)


def is_caught_by(finding: Finding) -> bool:
    return not finding.held and finding.what.startswith(JUDGED)


if __name__ == "__main__":
    main()
