"""A disk that is full: what would need more room is refused, and all else goes on."""

import time

from lab.faults.cluster.small_disk import CannotMount, SmallDisk, small_disk
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment, ExperimentSkipped
from lab.faults.history.promises import Span

STORE = "shard1"
CALLS_PER_S = 60.0
IDLE_S, FULL_S, AFTER_S = 4.0, 15.0, 8.0
# A table needs room once its last page is full, so there must be many new rows.
WRITES = {"post": 50, "home": 25, "counts": 10, "relationship": 10, "follow": 5}
READS = ("home", "counts", "relationship")


def _fill_disk(scene: Scene) -> None:
    try:
        with small_disk(scene.cluster.services.postgres[STORE]) as disk:
            # Its log then has a new file, which is as big as it will be.
            scene.nemesis.switch_log(STORE)
            _load_while_full(scene, disk)
    except CannotMount as error:
        raise ExperimentSkipped(f"a small disk cannot be mounted: {error}") from error


def _load_while_full(scene: Scene, disk: SmallDisk) -> None:
    load = scene.make_load(scene.accounts, CALLS_PER_S, WRITES)
    with load.running():
        time.sleep(IDLE_S)
        with scene.broken():
            disk.fill()
            time.sleep(FULL_S)
            disk.empty()
        time.sleep(AFTER_S)
    scene.judge_too(load)
    _check_full(scene)
    _check_after(scene)


def _check_full(scene: Scene) -> None:
    span = scene.spans[-1]
    own, impact = scene.during(span, {STORE}), scene.during(span)
    reads = scene.during(span, kinds=READS)
    scene.note(f"disk full: {impact.text()}")
    scene.note(f"accounts of the shard: {own.text()}")
    scene.check_happened(503 in own.errors, "the disk is full: writes are refused", own.errors)
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)
    scene.check_no_errors(reads.errors, "no read is refused")


def _check_after(scene: Scene) -> None:
    """Without a restart, and without a person."""
    after = scene.during(Span(scene.spans[-1].ended_s + 2, time.monotonic()))
    scene.check_no_errors(after.errors, "no error two seconds after")
    scene.check(after.calls > 0, "clients go on", after.calls)


DISKS = [Experiment("F29", "the disk of a shard is full for 15 s", _fill_disk)]
