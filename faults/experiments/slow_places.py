"""Processes that are slow at a named place, so that others overtake them there."""

import time
from collections.abc import Sequence

from faults.cluster.cluster import DRAINERS, WEBS
from faults.cluster.process import Armed
from faults.experiments.scene import Scene
from faults.experiments.types import Experiment
from faults.history.promises import Span

CALLS_PER_S = 40.0
SLOW_S = 12.0
FLUSHES = 15
FAN_OUT = ("fan_out.indexed", "fan_out.pushed")
LOADERS = ("relations.list_read", "relationships.read", "posts.weeks_read", "rebuild.computed")


def _slow_fan_out(scene: Scene) -> None:
    """Accounts unfollow and delete while a post of theirs is on its way."""
    armed = {place: _sleeping(0.3) for place in FAN_OUT}
    with scene.under_load(CALLS_PER_S), scene.broken():
        _restart(scene, DRAINERS, armed)
        time.sleep(SLOW_S)
        _restart(scene, DRAINERS, {})
    scene.note(f"slow deliveries: {scene.during(scene.spans[-1]).text()}")


def _flush_in_loads(scene: Scene) -> None:
    """Redis is emptied while webs have read rows and have not yet written their entries."""
    _restart(scene, WEBS, {place: _sleeping(0.1) for place in LOADERS})
    with scene.under_load(CALLS_PER_S):
        time.sleep(2)
        began_s = time.monotonic()
        for _ in range(FLUSHES):
            scene.nemesis.flush()
            time.sleep(0.6)
        span = Span(began_s, time.monotonic())
    _restart(scene, WEBS, {})
    scene.note(f"{FLUSHES} flushes, slow loaders: {scene.during(span).text()}")


def _delay_deliveries(scene: Scene) -> None:
    """Drainers reach their stores slowly, and clients poll: each post comes, once it is there."""
    with scene.under_load(CALLS_PER_S):
        with scene.broken():
            scene.cluster.links.open("drainer*:*", delay_s=0.05)
            time.sleep(SLOW_S)
            scene.cluster.links.open("drainer*:*")
        time.sleep(3)
    scene.note(f"drainers 50 ms from their stores: {scene.during(scene.spans[-1]).text()}")


def _sleeping(seconds: float) -> dict[str, object]:
    return {"do": "sleep", "seconds": seconds, "times": 10**6}


def _restart(scene: Scene, names: Sequence[str], armed: Armed) -> None:
    """One after the other, each with these failpoints."""
    for name in names:
        process = scene.cluster.processes[name]
        process.stop()
        process.begin(armed=armed)
        scene.cluster.wait_until_ready()
        scene.cluster.wait_for_drainers()


SLOW_PLACES = [
    Experiment("F21", "unfollow and delete during a slow fan-out", _slow_fan_out),
    Experiment("F36", "FLUSHALL between a loader's read and its write", _flush_in_loads),
    Experiment("F37", "clients poll while deliveries are late", _delay_deliveries),
]
