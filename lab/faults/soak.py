"""python -m lab.faults.soak [--minutes 30] [--seed N]: faults at random, then all must become well.

The seed is printed first and decides which faults come, in which order and for how long. At the end
everything is healed, all changes must be delivered within 30 s, and the histories are judged.
`.artifacts/faults/soak-SEED.svg` and `.json` have what was measured, and each fault with its time.
"""

import random
import sys
import time
from argparse import ArgumentParser
from functools import partial

from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.growth import growths
from lab.faults.printing import print_result
from lab.faults.random_faults import draw_fault
from lab.faults.resources import EVERY_S, measure, sampling
from lab.faults.results import keep_results
from lab.faults.runner import run_all
from lab.faults.soak_record import SoakRecord
from lab.run import StopRequested, stop_on_signals

CALLS_PER_S = 30.0
FAULT_S = (0.3, 6.0)
REST_S = (2.0, 8.0)
# After a fault a post may be late for 10 s (lab.faults.history.promises). Only longer rests show
# that posts come in time again.
CALM_S = 20.0
FAULTS_TO_CALM = 6
_UNMEASURED_S = 5 * EVERY_S
_LARGEST_SEED = 10**6


def main() -> None:
    parser = ArgumentParser(
        prog="python -m lab.faults.soak", description="Breaks things at random."
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.randrange(_LARGEST_SEED))
    parser.add_argument(
        "--write", action="store_true", help="keep the results, which the docs show"
    )
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    title = f"{options.minutes:g} minutes of random faults"
    experiment = Experiment("F33", title, partial(soak, minutes=options.minutes))
    try:
        with stop_on_signals():
            results = list(run_all([experiment], options.seed))
    except StopRequested:
        sys.exit("stopped")
    for result in results:
        print_result(result)
    if options.write:
        keep_results(results)
    sys.exit(any(not result.held for result in results))


def soak(scene: Scene, minutes: float) -> None:
    """Breaks and heals until the time is over. What was measured is kept however it ends."""
    record = SoakRecord(scene.seed, time.monotonic())
    try:
        with (
            sampling(partial(measure, scene.cluster)) as record.samples,
            scene.under_load(CALLS_PER_S),
        ):
            time.sleep(REST_S[1])
            _break_until(scene, record, record.began_s + 60 * minutes)
            ended_s = time.monotonic() - record.began_s
    finally:
        print(f"    {record.write()}", flush=True)
    _check_resources(scene, record, ended_s)
    scene.note(f"{len(record.faults)} faults")


def _break_until(scene: Scene, record: SoakRecord, end_s: float) -> None:
    rng = random.Random(scene.seed)
    while time.monotonic() < end_s:
        with scene.broken(), draw_fault(scene.cluster, rng) as name:
            seconds = rng.uniform(*FAULT_S)
            print(f"    {name} for {seconds:.1f} s", flush=True)
            time.sleep(seconds)
        record.add_fault(name, scene.spans[-1])
        rest_s = rng.uniform(*REST_S)
        time.sleep(rest_s if len(record.faults) % FAULTS_TO_CALM else CALM_S)


def _check_resources(scene: Scene, record: SoakRecord, ended_s: float) -> None:
    """Nothing measured must not look like nothing grown."""
    last_s = record.samples[-1].at_s if record.samples else 0.0
    what = "resources were measured to the end"
    scene.check(last_s > ended_s - _UNMEASURED_S, what, f"{last_s:.0f} of {ended_s:.0f} s")
    growing = growths(record.samples)
    for growth in growing:
        scene.check(growth.is_flat, f"{growth.unit} of {growth.name}: flat", growth.text)
    if not growing:
        scene.note("too short to judge whether memory, files and connections grow")


if __name__ == "__main__":
    main()
