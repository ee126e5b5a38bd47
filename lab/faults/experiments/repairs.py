"""Repair jobs that run, die and run again while the service writes."""

import subprocess
import sys
import time
from signal import SIGKILL

from lab.faults.cluster.with_failpoints import EXIT_CODE
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.heal_and_drain import heal_and_drain
from lab.faults.load.session import Session
from lab.runner.child import CHECKOUT

CALLS_PER_S = 40.0
JOBS = (
    ["rebuild", "counters"],
    ["audit", "edges", "--repair"],
    ["audit", "timelines", "--repair"],
    ["backfill", "backward-edges"],
    ["rebuild", "count-cache"],
)


# Where it dies, the command, and what is lost before.
BACK_FILLS = (
    ("posts.threads_written", ("backfill", "threads"), "threads"),
    ("notifications.backfilled", ("backfill", "notifications"), "notifications"),
)


def _repair(scene: Scene) -> None:
    """Each job is killed once and run twice under load. In quiet it finds nothing to change."""
    with scene.under_load(CALLS_PER_S):
        for job in JOBS:
            _kill_in_the_middle(scene, job)
            for _ in range(2):
                run = scene.cluster.attempt(*job)
                scene.check(
                    run.returncode == 0,
                    f"{' '.join(job)} succeeds",
                    (run.stdout + run.stderr)[-400:],
                )
    heal_and_drain(scene.cluster)
    for job in JOBS:
        changed = _changes(scene.cluster.attempt(*job).stdout)
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
    scene.check_happened(process.wait() == -SIGKILL, f"{' '.join(job)} was killed")


def _changes(output: str) -> int:
    """The number before "changed" in the last line; 0 without one."""
    words = output.replace(",", "").split()
    return int(words[words.index("changed") - 1]) if "changed" in words else 0


def _back_fill(scene: Scene) -> None:
    """Back-fills die in the middle, while what they derive is lost, and then end their work."""
    asker, other = scene.load.sessions[:2]
    first = asker.write_to(other.person).made
    answer = other.write_to(asker.person, first).made
    heal_and_drain(scene.cluster)
    before = _derived(other, answer)
    for place, command, loss in BACK_FILLS:
        name = " ".join(command)
        lost = scene.cluster.backstage.ask({"do": "spoil", "with": loss})
        scene.check(lost > 0, f"{name} has something to find", lost)
        died = scene.cluster.attempt(*command, armed={place: {"do": "exit"}})
        scene.check_happened(died.returncode == EXIT_CODE, f"{name} died", died.stderr[-400:])
        again = scene.cluster.attempt(*command)
        scene.check(again.returncode == 0, f"{name} succeeds", again.stderr[-400:])
    after = _derived(other, answer)
    scene.check(after == before, "what was lost is found again", (before, after))


def _derived(session: Session, answer: int | None) -> list[object]:
    """The thread of a reply, and who followed."""
    [reply] = [status for status in session.read(f"/api/v1/accounts/{session.person.id}/statuses")
               if int(status["id"]) == answer]  # fmt: skip
    notifications = session.read("/api/v1/notifications")
    followers = sorted(
        notification["account"]["id"]
        for notification in notifications
        if notification["type"] == "follow"
    )
    return [reply["conversation_id"], followers]


REPAIRS = [
    Experiment("F27", "repair jobs are killed and run twice under load", _repair),
    Experiment("F27b", "back-fills of lost data die in the middle, and run again", _back_fill),
]
