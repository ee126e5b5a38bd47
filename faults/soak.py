"""python -m faults.soak [--minutes 30] [--seed N]: faults at random, then all must become well.

The seed is printed first and decides which faults come, in which order and for how long. At the end
everything is healed, all changes must be delivered within 30 s, and the histories are judged.
"""

import random
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial

from config.run import StopRequested, stop_on_signals
from faults.evidence import FOLDER
from faults.experiments.scene import Scene
from faults.experiments.types import Experiment
from faults.history.promises import Span
from faults.plot import plot
from faults.printing import print_result
from faults.random_faults import draw_fault
from faults.report import write_page
from faults.resources import ResourceSample, growths, sampling
from faults.results import keep_results
from faults.runner import run_all

CALLS_PER_S = 30.0
FAULT_S = (0.3, 6.0)
REST_S = (2.0, 8.0)
_LARGEST_SEED = 10**6


def main() -> None:
    parser = ArgumentParser(prog="python -m faults.soak", description="Breaks things at random.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.randrange(_LARGEST_SEED))
    parser.add_argument("--write", action="store_true", help="write the table of the docs")
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
        write_page()
    sys.exit(any(not result.held for result in results))


def soak(scene: Scene, minutes: float) -> None:
    """Breaks and heals until the time is over."""
    began_s = time.monotonic()
    with sampling(scene.cluster) as samples, scene.under_load(CALLS_PER_S):
        time.sleep(REST_S[1])
        _break_until(scene, began_s + 60 * minutes)
    for growth in growths(samples):
        text = f"{growth.before:.0f} -> {growth.after:.0f}"
        scene.check(growth.is_flat, f"{growth.name} is flat", text)
    _write_plot(samples, [Span(s.began_s - began_s, s.ended_s - began_s) for s in scene.spans])
    scene.note(f"{len(scene.spans)} faults")


def _break_until(scene: Scene, end_s: float) -> None:
    rng = random.Random(scene.seed)
    while time.monotonic() < end_s:
        with scene.broken(), draw_fault(scene.cluster, rng) as name:
            seconds = rng.uniform(*FAULT_S)
            print(f"    {name} for {seconds:.1f} s", flush=True)
            time.sleep(seconds)
        time.sleep(rng.uniform(*REST_S))


def _write_plot(samples: Sequence[ResourceSample], spans: Sequence[Span]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "soak.svg").write_text(plot(samples, spans))


if __name__ == "__main__":
    main()
