"""Workers on several machines: one hangs, one dies, and what replaces it is far away."""

import time
from signal import SIGKILL

from infra.changes.lease import LEASE_S
from lab.faults.cluster.cluster import DRAINERS
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.slow_places import let_first_hold_all_lanes, lost_leases, sleeping
from lab.faults.experiments.types import Experiment

CALLS_PER_S = 40.0
DELAY_S = 0.03
FAR_S, WAKING_S, CONNECTED_WITHIN_S = 10.0, 6.0, 60.0
PLACE = "fan_out.pushed"  # slow there, a worker hangs and dies in the middle of a batch
# Each post is a fan-out in chunks of a few followers, so other workers get parts of it.
SMALL_CHUNKS = {"INLINE_FOLLOWERS": "2", "CHUNK_FOLLOWERS": "3"}


def _lose_workers(scene: Scene) -> None:
    """The first hangs with all leases, the second takes them over and dies, comes back far from its
    stores, and then the first wakes with a batch that others have delivered."""
    first, second = (scene.cluster.processes[name] for name in DRAINERS)
    before = lost_leases(scene)
    with scene.under_load(CALLS_PER_S), scene.broken():
        let_first_hold_all_lanes(scene, {PLACE: sleeping(0.3)})
        first.pause()
        time.sleep(LEASE_S + 3)
        second.kill()
        scene.check_happened(second.exit_code == -SIGKILL, f"{second.name} was killed")
        second.begin()
        slowed = _slow_down(scene, second.name)
        scene.check_happened(slowed > 0, "connections of the new one were slow", slowed)
        time.sleep(FAR_S)
        first.resume()
        time.sleep(WAKING_S)
        scene.cluster.links.open(f"{second.name}:*")
    lost = lost_leases(scene) - before
    scene.check_happened(lost > 0, f"{first.name} woke in a batch that was no longer its own", lost)
    scene.note(f"two workers lost: {scene.during(scene.spans[-1]).text()}")


def _slow_down(scene: Scene, name: str) -> int:
    """Once it has connected: its start would take too long. Returns how many ends it met."""
    end_s = time.monotonic() + CONNECTED_WITHIN_S
    while True:
        slowed = scene.cluster.links.open(f"{name}:*", delay_s=DELAY_S)
        if slowed or time.monotonic() > end_s:
            return slowed
        scene.cluster.links.open(f"{name}:*")
        time.sleep(0.5)


WORKERS = [
    Experiment(
        "F46",
        "a worker hangs past its leases, one is killed and comes back far away",
        _lose_workers,
        settings=SMALL_CHUNKS,
    )
]
