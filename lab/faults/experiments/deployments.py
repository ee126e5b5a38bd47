"""A mistake of a deployment: a wrong clock."""

import time
from collections.abc import Iterable

from lab.faults.cluster.fake_time import NoFakeTime, find_fake_time
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment, ExperimentSkipped
from lab.faults.history.calls import ClientCall
from lab.faults.history.entries import second_of

CALLS_PER_S = 30.0
AHEAD_S = 300


def _wrong_clock(scene: Scene) -> None:
    """One web and one drainer live five minutes in the future."""
    fake = _fake_time()
    ahead = [scene.cluster.processes[name] for name in ("web0", "drainer0")]
    for process in ahead:
        process.stop()
        process.begin(environment=fake)
    scene.cluster.wait_until_ready()
    with scene.under_load(CALLS_PER_S):
        time.sleep(12)
    for process in ahead:
        process.stop()
        process.begin()
    scene.cluster.wait_until_ready()
    scene.note("web0 and drainer0 were five minutes ahead")
    apart_s = _seconds_apart(scene.load.calls)
    scene.check_happened(
        apart_s > AHEAD_S - 60, "posts have ids of both clocks", f"{apart_s} s apart"
    )


def _fake_time() -> dict[str, str]:
    """The environment of a process that is ahead. Raises ExperimentSkipped."""
    try:
        library = find_fake_time()
    except NoFakeTime as error:
        raise ExperimentSkipped(str(error)) from error
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"+{AHEAD_S}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def _seconds_apart(calls: Iterable[ClientCall]) -> int:
    """Between the first and the last second in the ids of posts."""
    seconds = [second_of(call.made) for call in calls if call.kind == "post" and call.made]
    return max(seconds) - min(seconds)


DEPLOYMENTS = [
    Experiment("F16", "one web and one drainer are five minutes ahead", _wrong_clock),
]
