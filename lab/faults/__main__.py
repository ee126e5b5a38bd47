"""python -m lab.faults [--only F9,F34] [--ci] [--seed N] [--write]: runs fault experiments.

`--write` keeps the results, which the docs show.
The exit code is 1 when one does not hold, or when all together never reached a failpoint, a race
branch or a fallback of the product.
"""

import random
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from lab.faults.coverage.points import find_points
from lab.faults.coverage.record import read_reached, recording_run
from lab.faults.coverage.report import unreached
from lab.faults.experiments.registry import EXPERIMENTS
from lab.faults.experiments.types import Experiment, ExperimentResult
from lab.faults.printing import print_result
from lab.faults.results import keep_results
from lab.faults.runner import run_all
from lab.run import StopRequested, stop_on_signals

_LARGEST_SEED = 10**6
# A machine of CI may have other work. A store that makes others wait costs far more than this.
_CI_SLACK = 3.0


def main() -> None:
    options = _options()
    chosen = _chosen(options)
    seed = random.randrange(_LARGEST_SEED) if options.seed is None else options.seed
    print(f"seed {seed}; the same again: python -m lab.faults --seed {seed}", flush=True)
    results = []
    try:
        with stop_on_signals(), recording_run() as folder:
            for result in run_all(chosen, seed, _CI_SLACK if options.ci else 1.0):
                print_result(result)
                results.append(result)
            missed = unreached(find_points(), read_reached(folder))
    except StopRequested:
        sys.exit("stopped")
    if options.write:
        keep_results(results)
    if failed := [result for result in results if not (result.held or result.skipped)]:
        exit_with(failed, seed)
    if missed and len(chosen) == len(EXPERIMENTS):
        sys.exit(f"no experiment reached: {', '.join(missed)}")


def exit_with(failed: Sequence[ExperimentResult], seed: int) -> NoReturn:
    """CI reads the line of those that were only slow, and runs them once more."""
    numbers = ",".join(result.number for result in failed)
    if all(result.was_only_slow for result in failed):
        print(f"only slow: {numbers}", flush=True)
    sys.exit(f"does not hold (seed {seed}): {numbers}")


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m lab.faults", description="Runs fault experiments.")
    parser.add_argument("--only", default="", help="numbers, separated by commas: F9,F34")
    parser.add_argument("--ci", action="store_true", help="the selection of three minutes")
    parser.add_argument("--seed", type=int, help="decides all that is drawn")
    parser.add_argument(
        "--write", action="store_true", help="keep the results, which the docs show"
    )
    return parser.parse_args()


def _chosen(options: Namespace) -> Sequence[Experiment]:
    """F34 chooses F34a and F34b. Exits when nothing is chosen."""
    wanted = {number for number in options.only.split(",") if number}
    chosen = [
        experiment
        for experiment in EXPERIMENTS
        if (not wanted or {experiment.number, experiment.row} & wanted)
        and (experiment.in_ci or not options.ci)
    ]
    if not chosen:
        sys.exit(f"no such experiment: {options.only}")
    return chosen


if __name__ == "__main__":
    main()
