"""Stores that hang: SIGSTOP of a server with all its sessions, and a network that swallows packets.

Connections stay open and nothing answers, so only deadlines of the clients help.
"""

import time
from collections.abc import Callable
from functools import partial

from lab.faults.experiments.scene import ALL_SHARDS, Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span

IDLE_S, HANG_S, AFTER_S = 8.0, 15.0, 5.0
CALLS_PER_S = 40.0
# Without Redis the shards give every page, at many times the cost. 15 a second are more than two
# slow cores can do: requests were refused by the queue, and not because something hung.
CALLS_PER_S_WITHOUT_REDIS = 10.0
# The promise is 1.2 s; the rest is for a machine that runs all of this on two cores.
ANSWER_WITHIN_MS = 1_500.0
REDIS_ANSWER_WITHIN_MS = 1_000.0
REDIS_P99_MS = 400.0
# Below this, twice the idle latency is within the noise of such a machine.
NOISE_MS = 150.0
PAUSE_S = 0.3
PAUSES = 8


def _hang(
    scene: Scene,
    begin: Callable[[], object],
    end: Callable[[], object],
    calls_per_s: float = CALLS_PER_S,
) -> Span:
    """A load before, while and after something hangs. Returns the time of the hang."""
    with scene.watching_live(), scene.under_load(calls_per_s):
        time.sleep(IDLE_S)
        with scene.broken():
            begin()
            time.sleep(HANG_S)
            end()
        time.sleep(AFTER_S)
    return scene.spans[-1]


def _check_shard_hung(scene: Scene, span: Span) -> None:
    """What holds while shard1 hangs, for its own accounts and for those of other shards."""
    healthy = scene.during(span, ALL_SHARDS - {"shard1"})
    idle, own, everyone = scene.idle(), scene.during(span, {"shard1"}), scene.during(span)
    scene.note(f"idle: {idle.text()}")
    scene.note(f"other shards: {healthy.text()}")
    scene.note(f"accounts of the shard: {own.text()}")
    bound_ms = max(2 * idle.p99_ms, NOISE_MS)
    what = "accounts of other shards: p99 at most 2 x idle"
    scene.check_latency(healthy.p99_ms, bound_ms, what)
    _check_quick_503(scene, everyone.errors, everyone.longest_s)


def _check_default_hung(scene: Scene, span: Span) -> None:
    """Tokens that are known go on working; nothing waits for the default database."""
    impact, idle = scene.during(span), scene.idle()
    scene.note(f"idle: {idle.text()}")
    scene.note(f"hung: {impact.text()}")
    bound_ms = max(2 * idle.p99_ms, NOISE_MS)
    scene.check_latency(impact.p99_ms, bound_ms, "p99 at most 2 x idle")
    _check_quick_503(scene, impact.errors, impact.longest_s)


def _check_quick_503(scene: Scene, errors: dict[int, int], longest_s: float) -> None:
    scene.check(not errors.keys() - {503}, "every refusal is a 503", errors)
    scene.check_latency(1000 * longest_s, ANSWER_WITHIN_MS, "no answer takes over 1.2 s")


def _check_redis_hung(scene: Scene, span: Span) -> None:
    impact = scene.during(span)
    scene.note(f"idle: {scene.idle().text()}")
    scene.note(f"hung: {impact.text()}")
    scene.check_no_errors(impact.errors)
    scene.check_latency(impact.p99_ms, REDIS_P99_MS, "p99 at most 400 ms")
    scene.check_latency(1000 * impact.longest_s, REDIS_ANSWER_WITHIN_MS, "no answer over 1 s")


def _pause(scene: Scene, store: str) -> None:
    scene.cluster.pause_store(store)
    scene.check_happened(not scene.cluster.is_heard(store), f"{store} does not answer")


def _hang_store(scene: Scene, store: str, calls_per_s: float = CALLS_PER_S) -> Span:
    end = partial(scene.cluster.revive_store, store)
    return _hang(scene, partial(_pause, scene, store), end, calls_per_s)


def _hang_shard(scene: Scene) -> None:
    _check_shard_hung(scene, _hang_store(scene, "shard1"))


def _black_hole_shard(scene: Scene) -> None:
    links = scene.cluster.links

    def begin() -> None:
        held = links.stall("*:shard1")
        scene.check_happened(held > 0, "connections to shard1 are held", held)

    _check_shard_hung(scene, _hang(scene, begin, partial(links.open, "*:shard1")))


def _hang_default(scene: Scene) -> None:
    _check_default_hung(scene, _hang_store(scene, "default"))


def _hang_redis(scene: Scene) -> None:
    _check_redis_hung(scene, _hang_store(scene, "redis", CALLS_PER_S_WITHOUT_REDIS))


def _pause_redis_shortly(scene: Scene) -> None:
    """Each web sees other pauses, so their breakers differ. The history shows what came back."""
    links, held = scene.cluster.links, []
    with scene.under_load(2 * CALLS_PER_S):
        time.sleep(3)
        for number in range(PAUSES):
            with scene.broken():
                match = ("*:redis", "web0:redis", "drainer*:redis", "web1:redis")[number % 4]
                before = links.stall(match)
                time.sleep(PAUSE_S)
                held.append(max(before, links.open(match)))
            time.sleep(1.5)
    impact = scene.during(Span(scene.spans[0].began_s, time.monotonic()))
    scene.note(f"{PAUSES} pauses: {impact.text()}")
    scene.check_happened(all(held), "each pause held connections to Redis", held)
    scene.check_no_errors(impact.errors)


HANGS = [
    Experiment("F5", "Redis hangs for 15 s", _hang_redis, in_ci=True),
    Experiment("F9", "one shard of four hangs for 15 s", _hang_shard, in_ci=True),
    Experiment("F34a", "packets to and from one shard are swallowed", _black_hole_shard),
    Experiment("F34b", "the default database hangs for 15 s", _hang_default),
    Experiment(
        "F35", "Redis pauses for 0.3 s, each time for other processes", _pause_redis_shortly
    ),
]
