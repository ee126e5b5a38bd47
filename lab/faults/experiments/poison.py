"""What cannot be delivered, and what cannot be read."""

import random
import time

from lab.faults.cluster.cluster import DRAINERS, Cluster
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.runner.programs import other_constants

CALLS_PER_S = 40.0
FAILING_S, PARKED_WITHIN_S, AFTER_S = 8.0, 60.0, 4.0
SPOILS = 6
FEW_ATTEMPTS = other_constants(CHANGE_MAX_ATTEMPTS=2)


def _fail_edges(scene: Scene) -> None:
    """Changes of edges fail until they are parked; an operator retries them. Posts go on."""
    cluster = scene.cluster
    with scene.under_load(CALLS_PER_S):
        with scene.broken():
            _restart(scene, {"relations.mirrored": {"do": "raise", "times": 10**6}})
            parked = _wait_for_parked(cluster)
            _restart(scene, {})
            # Until then edges are as late as the operator.
            retried = cluster.attempt("changes", "unpark", "--all")
        time.sleep(AFTER_S)
    scene.note(f"{parked} changes were parked")
    scene.check_happened(parked > 0, "changes that always fail are parked", parked)
    scene.check(retried.returncode == 0, "an operator can retry them", retried.stderr[-400:])


def _wait_for_parked(cluster: Cluster) -> int:
    """How many are parked after FAILING_S. It waits longer for the first one."""
    time.sleep(FAILING_S)
    end_s = time.monotonic() + PARKED_WITHIN_S
    while not (parked := cluster.count_undelivered()["parked"]) and time.monotonic() < end_s:
        time.sleep(0.2)
    return parked


def _restart(scene: Scene, armed: dict[str, dict[str, object]]) -> None:
    """They stop in order, because killed ones would keep the lanes for 15 s."""
    processes = [scene.cluster.processes[name] for name in DRAINERS]
    for process in processes:
        process.begin_stop()
    for process in processes:
        process.stop()
        process.begin(armed=armed)


def _spoil(scene: Scene) -> None:
    """Entries of Redis become unreadable: all of them are misses."""
    rng, spoiled = random.Random(scene.seed), 0
    with scene.under_load(CALLS_PER_S):
        time.sleep(2)
        for _ in range(SPOILS):
            spoiled += scene.nemesis.spoil_values(rng, 0.3)
            time.sleep(1.5)
    errors = {call.status for call in scene.load.calls if call.status >= 500}
    scene.note(f"{spoiled} entries were made unreadable")
    scene.check_happened(spoiled > 0, "entries were overwritten", spoiled)
    scene.check(not errors, "no error", errors)


POISON = [
    Experiment(
        "F26", "changes of edges always fail for a while", _fail_edges, settings=FEW_ATTEMPTS
    ),
    Experiment("F38b", "entries of Redis become unreadable", _spoil),
]
