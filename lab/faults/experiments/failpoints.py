"""Processes that die at a named place of the code."""

import json
import time
from collections.abc import Callable

from lab.faults.cluster.cluster import COMPENSATOR, DRAINERS
from lab.faults.cluster.process import ArmedChild
from lab.faults.cluster.with_failpoints import EXIT_CODE
from lab.faults.experiments.encounters import rush_once
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.calls import ClientCall

CALLS_PER_S = 40.0
# Places that a drainer passes for the mutations of the load.
DRAINER_PLACES = (
    "drain.before_delivery",
    "deliver.after_consumer",
    "relations.mirrored",
    "relations.folded",
    "posts.responses_recorded",
    "posts.responses_folded",
    "fan_out.indexed",
    "fan_out.pushed",
    "fan_out.page_pushed",
    "drain.before_filing",
    "drain.before_commit",
    "drain.after_filing",
)
HOT_PLACES = ("relations.folded", "posts.responses_folded")
MOST_RUSHES, RUSH_EVERY_S = 10, 1.0
# Places that a web passes after a commit and before its answer.
WEB_PLACES = ("changes.committed", "relations.mirrored_now", "relations.blocked")
# The leases of killed processes last for 15 s, and on a crowded machine a drainer begins late.
DIES_WITHIN_S = 60.0
CONVERGES_WITHIN_S = 10.0


def _kill_drainer_everywhere(scene: Scene) -> None:
    """One drainer at a time dies at a place, and the other one takes over."""
    reached = []
    with scene.under_load(CALLS_PER_S), scene.broken():
        for number, place in enumerate(DRAINER_PLACES):
            if kill_drainer_at(scene, number, place, lambda kill: _dies(scene, *kill)):
                reached.append(place)
    missed = [place for place in DRAINER_PLACES if place not in reached]
    scene.note(f"a drainer died at {len(reached)} of {len(DRAINER_PLACES)} places")
    scene.check_happened(not missed, "each place was reached", missed)


def kill_drainer_at(
    scene: Scene, number: int, place: str, dies: Callable[[tuple[ArmedChild, str]], bool]
) -> bool:
    """Whether a drainer died at the place, which `dies` brings it to. Then all run again.

    Until then it is alone. On a crowded machine the compensator would keep the lanes.
    """
    first, second = (DRAINERS[(number + n) % 2] for n in (0, 1))
    drainer, *others = (scene.cluster.processes[name] for name in (first, second, COMPENSATOR))
    for process in (*others, drainer):
        process.kill()
    drainer.begin(armed={place: {"do": "exit", "after": number % 3}})
    is_reached = dies((drainer, place)) and drainer.exit_code == EXIT_CODE
    drainer.kill()
    for process in (drainer, *others):
        process.begin()
    return is_reached


def _dies(scene: Scene, drainer: ArmedChild, place: str) -> bool:
    """Whether the drainer came to the place. Counts are folded only while they are hot."""
    if place not in HOT_PLACES:
        return drainer.wait_for_exit(DIES_WITHIN_S)
    for _ in range(MOST_RUSHES):
        rush_once(scene)
        if drainer.wait_for_exit(RUSH_EVERY_S):
            return True
    return False


def _kill_web_after_commit(scene: Scene) -> None:
    """A client that got no answer sends the same post again, with the same Idempotency-Key."""
    wrong = []
    for number in range(3):
        begin_armed_web(scene, "changes.committed")
        session = scene.load.sessions[2 * number]  # web0 is the web of even clients
        key = f"again-{scene.seed}-{number}"
        first, second = session.post(key, key), _send_until_answered(scene, session.client, key)
        made = [call.made for call in (first, second) if call is not None and call.made is not None]
        scene.check_happened(first.status == 0, "the web died before its answer", first.status)
        scene.note(f"first answer {first.status}, second {second.status if second else 'none'}")
        if first.status != 0 or second is None or len(set(made)) != 1:
            wrong.append(json.dumps([first.status, made]))
    scene.check(not wrong, "the retry is answered with the one post", wrong)


def begin_armed_web(scene: Scene, place: str) -> None:
    """The first web dies once at the place; its server then starts a new process."""
    web = scene.cluster.processes["web0"]
    web.kill()
    web.begin(armed={place: {"do": "exit"}})
    scene.cluster.wait_until_ready()
    time.sleep(1)  # until the balancer has seen it


def _send_until_answered(scene: Scene, client: int, key: str) -> ClientCall | None:
    """The server starts a new process for the one that died."""
    end_s = time.monotonic() + DIES_WITHIN_S
    while time.monotonic() < end_s:
        call = scene.load.sessions[client].post(key, key)
        if call.status:
            return call
        time.sleep(0.2)
    return None


FAILPOINTS = [
    Experiment("F1a", "a drainer dies at each of its failpoints", _kill_drainer_everywhere),
    Experiment("F2", "a web dies after the commit, before the answer", _kill_web_after_commit),
]
