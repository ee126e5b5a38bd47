"""Two versions of Tideline on one installation: the upgrade of docs/how-to/upgrade.md under load.

The old version is a commit (`lab.faults.cluster.versions`). The new version is this checkout.
"""

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from lab.faults.cluster.cluster import COMPENSATOR, DRAINERS, WEBS
from lab.faults.cluster.versions import old_version
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.heal_and_drain import heal_and_drain
from lab.faults.history.promises import Span
from lab.runner.child import CHECKOUT
from lab.runner.port import is_answering

CALLS_PER_S = 30.0
A_WHILE_S = 5.0
PARKED_KIND = "posts.created"
STARTED_WITHIN_S = 30.0
PARK = ("changes", "park", "--kind", PARKED_KIND, "--reason", "experiment")


def _mix_versions(scene: Scene) -> None:
    """Goes from the old version to the new one. While drainers stop, posts may be late."""
    with scene.broken():
        _go_through_versions(scene)


def _go_through_versions(scene: Scene) -> None:
    old = scene.cluster.checkout
    began_s = time.monotonic()
    with scene.under_load(CALLS_PER_S):
        time.sleep(A_WHILE_S)
        _refuse_old_schema(scene, old)
        _migrate(scene)
        _become(scene, ["web1"], CHECKOUT)
        time.sleep(A_WHILE_S)
    _hand_over(scene, "new", "old", CHECKOUT, old)
    _hand_over(scene, "old", "new", old, CHECKOUT)
    with scene.under_load(CALLS_PER_S):
        _become(scene, [*WEBS, COMPENSATOR], CHECKOUT)
        time.sleep(A_WHILE_S)
    impact = scene.during(Span(began_s, time.monotonic()))
    scene.note(f"from {old_version()} to this version: {impact.text()}")
    # A call without an answer was on its way to a web that ended: that is the matter of F28.
    scene.check(not impact.errors.keys() - {0, 503}, "no 500 of either version", impact.errors)


def _refuse_old_schema(scene: Scene, old: Path) -> None:
    """A web of the new version is not ready on the schema of the old one."""
    added = _migrations(CHECKOUT) - _migrations(old)
    scene.note(f"{len(added)} migrations between the versions")
    _restart(scene, ["web1"], CHECKOUT)
    port = scene.cluster.ports["web1"]
    is_live = _answers(port, "/health/live")
    time.sleep(1.0)
    is_ready = is_answering(port, "/health/ready")
    if added:
        scene.check(is_live and not is_ready, "new code on the old schema is live and not ready")
    else:
        scene.check(_answers(port, "/health/ready"), "new code on the same schema is ready")


def _migrate(scene: Scene) -> None:
    """The new version migrates while the old one works."""
    for words in (("migrate_shards", "--verbosity", "0"), ("backfill", "recent-posts")):
        done = scene.cluster.attempt(*words, checkout=CHECKOUT)
        said = (done.stdout + done.stderr)[-500:] if done.returncode else ""
        scene.check(
            done.returncode == 0, f"{' '.join(words[:2])} of the new version, under load", said
        )


def _hand_over(scene: Scene, writers: str, deliverers: str, written_by: Path, by: Path) -> None:
    """Webs of one version write changes, some are parked, and drainers of the other deliver all."""
    _become(scene, WEBS, written_by)
    _stop(scene, [*DRAINERS, COMPENSATOR])
    with scene.under_load(CALLS_PER_S):
        time.sleep(A_WHILE_S)
    parked = scene.cluster.attempt(*PARK, checkout=written_by)
    left = scene.cluster.count_undelivered()
    pair = f"{writers} webs, {deliverers} drainers"
    scene.note(f"{pair}: {left['pending']} pending and {left['parked']} parked changes")
    scene.check_happened(
        parked.returncode == 0 and bool(left["pending"]) and bool(left["parked"]),
        f"{pair}: there are pending and parked changes of the {writers} version",
        left,
    )
    with scene.under_load(CALLS_PER_S):
        _restart(scene, [*DRAINERS, COMPENSATOR], by)
        unparked = scene.cluster.attempt("changes", "unpark", "--all", checkout=by)
        time.sleep(A_WHILE_S)
    scene.check(unparked.returncode == 0, f"{pair}: unparked", unparked.stderr[-500:])
    quiet = heal_and_drain(scene.cluster)
    scene.check(not quiet.undelivered, f"{pair}: all delivered", quiet.undelivered)


def _become(scene: Scene, names: Collection[str], checkout: Path) -> None:
    """One process after the other becomes one of this version."""
    for name in names:
        _restart(scene, [name], checkout)
        scene.cluster.wait_until_ready()
        time.sleep(0.5)  # until the balancer has seen it


def _restart(scene: Scene, names: Sequence[str], checkout: Path) -> None:
    _stop(scene, names)
    for name in names:
        process = scene.cluster.processes[name]
        process.checkout = checkout
        process.begin()


def _stop(scene: Scene, names: Sequence[str]) -> None:
    """All at once."""
    processes = [scene.cluster.processes[name] for name in names]
    for process in processes:
        process.begin_stop()
    slow = [process.name for process in processes if not process.stop()]
    if slow:
        scene.check(False, "each process ends by itself", slow)


def _answers(port: int, path: str) -> bool:
    """Whether it does in STARTED_WITHIN_S."""
    end_s = time.monotonic() + STARTED_WITHIN_S
    while not is_answering(port, path):
        if time.monotonic() > end_s:
            return False
        time.sleep(0.05)
    return True


def _migrations(checkout: Path) -> set[str]:
    """The migrations of our apps, by path."""
    files = checkout.glob("*/**/migrations/0*.py")
    paths = (file.relative_to(checkout) for file in files)
    return {str(path) for path in paths if not path.parts[0].startswith(".")}


VERSIONS = [
    Experiment(
        "mixed-versions",
        "two versions at the same time, and changes of each delivered by the other",
        _mix_versions,
        begins_old=True,
    )
]
