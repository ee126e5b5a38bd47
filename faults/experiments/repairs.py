"""Repair jobs that run, die and run again while the service writes."""

import subprocess
import sys
import time

from config.runner.child import CHECKOUT
from faults.experiments.scene import Scene
from faults.experiments.types import Experiment
from faults.quiet import heal_and_drain

CALLS_PER_S = 40.0
JOBS = (
    ["recount_counters"],
    ["audit_edges", "--repair"],
    ["audit_timelines", "--repair"],
    ["backfill_backward_edges"],
    ["rebuild_count_cache"],
)


def _repair(scene: Scene) -> None:
    """Each job is killed once and run twice under load. In quiet it finds nothing to change."""
    with scene.under_load(CALLS_PER_S):
        for job in JOBS:
            _kill_in_the_middle(scene, job)
            for _ in range(2):
                run = scene.cluster.manage(*job)
                scene.check(
                    run.returncode == 0,
                    f"{' '.join(job)} succeeds",
                    (run.stdout + run.stderr)[-400:],
                )
    heal_and_drain(scene.cluster)
    for job in JOBS:
        changed = _changes(scene.cluster.manage(*job).stdout)
        scene.check(changed == 0, f"{' '.join(job)} changes nothing in quiet", changed)


def _kill_in_the_middle(scene: Scene, job: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", *job],
        env=dict(scene.cluster.environment),
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(1.2)  # Django loads for a second
    process.kill()
    process.wait()


def _changes(output: str) -> int:
    """The number before "changed" in the last line; 0 without one."""
    words = output.replace(",", "").split()
    return int(words[words.index("changed") - 1]) if "changed" in words else 0


REPAIRS = [Experiment("F27", "repair jobs are killed and run twice under load", _repair)]
