"""Stores and processes that are killed and come back."""

import time
from collections.abc import Callable
from functools import partial
from signal import SIGKILL

from lab.faults.cluster.cluster import COMPENSATOR, DRAINERS, WEBS
from lab.faults.experiments.scene import ALL_SHARDS, Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span

IDLE_S, AWAY_S, AFTER_S = 6.0, 10.0, 6.0
CALLS_PER_S = 40.0
READS = ("home", "poll", "page", "relationship", "counts")
KILLS = 10
SETTLED_WITHIN_S = 60.0


def _kill(scene: Scene, store: str) -> None:
    scene.cluster.kill_store(store)
    scene.check_happened(not scene.cluster.is_heard(store), f"{store} is dead")


def _away(scene: Scene, store: str) -> Span:
    with scene.watching_live(), scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        with scene.broken():
            _kill(scene, store)
            time.sleep(AWAY_S)
            scene.cluster.revive_store(store)
        time.sleep(AFTER_S)
    return scene.spans[-1]


def _kill_redis(scene: Scene) -> None:
    span = _away(scene, "redis")
    reads, everyone = scene.during(span, kinds=READS), scene.during(span)
    scene.note(f"without Redis: {everyone.text()}")
    share = 1 - reads.error_count / max(reads.calls, 1)
    scene.check(share >= 0.999, "99.9 % of the reads are answered", f"{share:.2%}")
    scene.check(not everyone.errors.keys() - {503}, "refusals are 503", everyone.errors)


def _kill_shard(scene: Scene) -> None:
    span = _away(scene, "shard1")
    healthy, own = scene.during(span, ALL_SHARDS - {"shard1"}), scene.during(span, {"shard1"})
    scene.note(f"other shards: {healthy.text()}")
    scene.note(f"accounts of the shard: {own.text()}")
    errors = healthy.errors | own.errors
    scene.check(not errors.keys() - {503}, "refusals are 503", errors)
    # A page that needs what only the lost shard has is refused to all readers.
    scene.note(f"refused to accounts of other shards: {healthy.error_count} of {healthy.calls}")


def _kill_postmasters(scene: Scene) -> None:
    """All its sessions die while they commit."""
    with scene.under_load(2 * CALLS_PER_S):
        time.sleep(2)
        with scene.broken():
            for number in range(KILLS):
                store = f"shard{number % 4}"
                _kill(scene, store)
                scene.cluster.revive_store(store)
                time.sleep(0.7)
        time.sleep(AFTER_S)
    impact = scene.during(scene.spans[-1])
    scene.note(f"{KILLS} kills: {impact.text()}")
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)


def _roll(scene: Scene) -> None:
    """SIGTERM to one process after the other, each started again, as a deployment does."""
    processes = scene.cluster.processes
    slow: list[str] = []
    with scene.under_load(CALLS_PER_S):
        time.sleep(3)
        began_s = time.monotonic()
        for name in (*WEBS, *DRAINERS, COMPENSATOR):
            before = processes[name].pid
            if not processes[name].stop():
                slow.append(name)
            processes[name].begin()
            scene.check_happened(processes[name].pid != before, f"{name} was restarted")
            scene.cluster.wait_until_ready()
            scene.cluster.wait_for_drainers()
            time.sleep(0.5)  # until the balancer has seen it
        span = Span(began_s, time.monotonic())
        time.sleep(2)
    impact = scene.during(span)
    scene.note(f"five restarts: {impact.text()}")
    scene.check(not impact.errors, "no request fails", impact.errors)
    scene.check(not slow, "each process ends by itself", slow)


def _kill_processes(scene: Scene) -> None:
    """kill -9 of webs and drainers in turn; each comes back on the same port at once."""
    processes = scene.cluster.processes
    with scene.under_load(CALLS_PER_S):
        time.sleep(2)
        with scene.broken():
            for name in (*WEBS, *DRAINERS, COMPENSATOR, *DRAINERS):
                processes[name].kill()
                scene.check_happened(processes[name].exit_code == -SIGKILL, f"{name} was killed")
                processes[name].begin()
                scene.cluster.wait_until_ready()
                scene.cluster.wait_for_drainers()
        time.sleep(2)
    scene.note(f"seven kills: {scene.during(scene.spans[-1]).text()}")


def _stop_drainers(scene: Scene) -> None:
    """Changes wait while no drainer runs, and are delivered faster than they come."""
    cluster, stopped = scene.cluster, (*DRAINERS, COMPENSATOR)
    with scene.under_load(2 * CALLS_PER_S):
        with scene.broken():
            for name in stopped:
                cluster.processes[name].kill()
            began_s = time.monotonic()
            time.sleep(15)
            waiting = cluster.count_undelivered()["pending"]
            ingest = waiting / (time.monotonic() - began_s)
        scene.load.calls_per_s = 1.0
    drained_s = _drained_s(scene, [partial(cluster.processes[name].begin) for name in stopped])
    rate = waiting / max(drained_s, 0.01)
    scene.note(f"{waiting} changes waited and were delivered in {drained_s:.1f} s")
    scene.check_happened(waiting > 0, "changes waited", waiting)
    scene.check(
        rate >= 3 * ingest,
        "delivers at least 3 x as fast as changes come",
        f"{rate:.0f} and {ingest:.0f} a second",
    )


def _drained_s(scene: Scene, begins: list[Callable[[], None]]) -> float:
    """Seconds from the first delivery until nothing waits: starting a process takes a second."""
    before = scene.cluster.count_undelivered()["pending"]
    for begin in begins:
        begin()
    first_s, end_s = 0.0, time.monotonic() + SETTLED_WITHIN_S
    while (now := scene.cluster.count_undelivered()["pending"]) and time.monotonic() < end_s:
        if now < before and not first_s:
            first_s = time.monotonic()
        time.sleep(0.02)
    return time.monotonic() - (first_s or time.monotonic())


KILL_EXPERIMENTS = [
    Experiment("F4", "Redis is killed for 10 s", _kill_redis),
    Experiment("F8", "one shard of four is killed for 10 s", _kill_shard),
    Experiment("F10", "postmasters are killed while they commit", _kill_postmasters, in_ci=True),
    Experiment("F28", "all processes are restarted one by one by SIGTERM", _roll),
    Experiment("F1b", "webs, drainers and compensator are killed in turn", _kill_processes),
    Experiment("F32", "no drainer runs for 15 s under load", _stop_drainers),
]
