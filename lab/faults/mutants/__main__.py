"""python -m lab.faults.mutants [--only NAME,NAME] [--seed N]: tries mutants and writes their table.

First the experiments run without a mutant: what fails there catches nothing. The exit code is 1
when a mutant is not caught.
"""

import sys
from argparse import ArgumentParser, Namespace

from lab.faults.mutants.catalogue import MUTANTS
from lab.faults.mutants.mutant import Mutant
from lab.faults.mutants.report import keep_trial, summary_of
from lab.faults.mutants.run import run_trial, try_mutant
from lab.run import StopRequested, stop_on_signals
from lab.runner.child import CHECKOUT

SEED = 1


def main() -> None:
    options = _options()
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    chosen = [by_name[name] for name in options.only.split(",") if name] or [*MUTANTS]
    try:
        with stop_on_signals():
            _check_baseline(chosen, options.seed)
            missed = [mutant.name for mutant in chosen if not _try(mutant, options.seed)]
    except StopRequested:
        sys.exit("stopped")
    if missed:
        sys.exit(f"not caught: {', '.join(missed)}")


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m lab.faults.mutants", description="Tries mutants.")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--seed", type=int, default=SEED, help="decides all that is drawn")
    return parser.parse_args()


def _check_baseline(chosen: list[Mutant], seed: int) -> None:
    """Exits when an experiment fails without a mutant."""
    for number in sorted({number for mutant in chosen for number in mutant.experiments}):
        trial = run_trial("none", number, seed, CHECKOUT)
        print(f"no mutant, {number}: {summary_of(trial) or trial.broken or 'holds'}", flush=True)
        if trial.is_caught or trial.broken:
            sys.exit(f"{number} does not hold without a mutant")


def _try(mutant: Mutant, seed: int) -> bool:
    trial = try_mutant(mutant, seed)
    keep_trial(trial, seed)
    verdict = summary_of(trial) or trial.broken or "NOT CAUGHT"
    print(f"{mutant.name}, {trial.experiment}: {verdict}", flush=True)
    return trial.is_caught


if __name__ == "__main__":
    main()
