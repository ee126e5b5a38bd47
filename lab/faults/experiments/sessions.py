"""PostgreSQL: sessions that end or stay open, too few connections."""

import random
import time

from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span

CALLS_PER_S = 40.0
TERMINATIONS = 20
OPEN_S = 15.0
FEW = {"max_connections": "20"}
# Three of them are for administrators.
NEARLY_ALL = 14


def _terminate(scene: Scene) -> None:
    """An administrator ends all sessions of one database after the other."""
    rng, ended = random.Random(scene.seed), 0
    with scene.under_load(2 * CALLS_PER_S):
        time.sleep(3)
        with scene.broken():
            for _ in range(TERMINATIONS):
                store = rng.choice(sorted(scene.cluster.services.postgres))
                ended += scene.nemesis.terminate_sessions(store)
                time.sleep(0.4)
        time.sleep(2)
    impact = scene.during(scene.spans[-1])
    scene.note(f"{ended} sessions ended: {impact.text()}")
    scene.check_happened(ended > 0, "the server ended sessions", ended)
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)


def _exhaust_connections(scene: Scene) -> None:
    """Twenty connections a database are fewer than the threads of all processes."""
    with scene.under_load(3 * CALLS_PER_S):
        with scene.broken():
            time.sleep(6)
            used = max(map(scene.nemesis.count_sessions, scene.cluster.services.postgres))
            scene.check_happened(used >= NEARLY_ALL, "connections are nearly used up", used)
            time.sleep(6)
            scene.load.calls_per_s = CALLS_PER_S / 4
        time.sleep(6)
    crowded = scene.during(scene.spans[-1])
    after = scene.during(Span(scene.spans[-1].ended_s + 2, time.monotonic()))
    scene.note(f"crowded: {crowded.text()}")
    scene.note(f"after: {after.text()}")
    scene.check(not crowded.errors.keys() - {503}, "refusals are 503", crowded.errors)
    scene.check_no_errors(after.errors, "no error two seconds after")


def _hold_transaction(scene: Scene) -> None:
    """A transaction with an id stays open on one shard: nothing waits for it."""
    with scene.under_load(CALLS_PER_S):
        time.sleep(3)
        began_s = time.monotonic()
        with scene.nemesis.open_transaction("shard1"):
            time.sleep(OPEN_S)
            is_open = scene.nemesis.has_open_transaction("shard1")
            scene.check_happened(is_open, "the transaction is still open")
            span = Span(began_s, time.monotonic())
        time.sleep(2)
    impact = scene.during(span)
    scene.note(f"a transaction open for {OPEN_S:.0f} s: {impact.text()}")
    scene.check_no_errors(impact.errors)


SESSIONS = [
    Experiment("F15", "a transaction stays open for 15 s", _hold_transaction),
    Experiment("F31", "all sessions of a database end, 20 times", _terminate),
    Experiment("F30", "20 connections a database", _exhaust_connections, postgres_settings=FEW),
]
