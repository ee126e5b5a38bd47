"""Redis loses data, or has old data: nothing that is missing may count as empty."""

import random
import time

from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span

IDLE_S, AFTER_S = 6.0, 6.0
CALLS_PER_S = 40.0
FLUSHES = 3
EVICTIONS = 12
SMALL_BYTES = 1_000_000


def _flush(scene: Scene) -> None:
    nemesis = scene.nemesis
    with scene.under_load(CALLS_PER_S):
        time.sleep(2)
        idle_rate = _peak_rate(scene, IDLE_S)
        peaks, lost = [], []
        began_s = time.monotonic()
        for _ in range(FLUSHES):
            lost.append(nemesis.flush())
            peaks.append(_peak_rate(scene, 3.0))
        span = Span(began_s, time.monotonic())
    impact = scene.during(span)
    scene.note(f"{FLUSHES} flushes: {impact.text()}")
    scene.note(f"transactions a second: idle {idle_rate:.0f}, peak {max(peaks):.0f}")
    scene.check_happened(all(lost), "each flush took keys away", lost)
    scene.check_no_errors(impact.errors)
    scene.check(
        max(peaks) <= 3 * idle_rate,
        "transactions peak at most 3 x idle",
        f"{max(peaks) / idle_rate:.1f} x",
    )


def _peak_rate(scene: Scene, seconds: float) -> float:
    """The highest rate of transactions in any half second."""
    peak, end_s = 0.0, time.monotonic() + seconds
    before, before_s = scene.nemesis.count_transactions(), time.monotonic()
    while time.monotonic() < end_s:
        time.sleep(1.0)
        now, now_s = scene.nemesis.count_transactions(), time.monotonic()
        peak = max(peak, (now - before) / (now_s - before_s))
        before, before_s = now, now_s
    return peak


def _evict(scene: Scene) -> None:
    rng, evicted = random.Random(scene.seed), 0
    with scene.under_load(2 * CALLS_PER_S):
        time.sleep(3)
        began_s = time.monotonic()
        for _ in range(EVICTIONS):
            evicted += scene.nemesis.evict_keys(rng, 0.3)
            time.sleep(1)
        span = Span(began_s, time.monotonic())
    scene.check_happened(evicted > 0, "keys were deleted", evicted)
    _check_no_error(scene, span, f"{evicted} keys evicted")


def _fill_memory(scene: Scene) -> None:
    """First eviction at random takes keys away, then every write to Redis is refused."""
    evicted = scene.nemesis.count_evicted()
    try:
        with scene.under_load(CALLS_PER_S):
            time.sleep(3)
            began_s = time.monotonic()
            used = scene.nemesis.redis_bytes()  # what is written from now on needs room
            scene.nemesis.configure_redis(maxmemory_policy="allkeys-random", maxmemory=str(used))
            time.sleep(6)
            evicted = scene.nemesis.count_evicted() - evicted
            with scene.broken():
                scene.nemesis.configure_redis(
                    maxmemory_policy="noeviction", maxmemory=str(SMALL_BYTES)
                )
                scene.check_happened(scene.nemesis.refuses_writes(), "Redis refuses a write")
                time.sleep(6)
                scene.nemesis.configure_redis(maxmemory="0")
            span = Span(began_s, time.monotonic())
            time.sleep(AFTER_S)
    finally:
        scene.nemesis.configure_redis(maxmemory="0", maxmemory_policy="noeviction")
    impact = scene.during(span)
    scene.note(f"memory full: {impact.text()}")
    scene.check_happened(evicted > 0, "Redis evicted keys", evicted)
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)


def _restore_old_dump(scene: Scene) -> None:
    with scene.under_load(CALLS_PER_S):
        time.sleep(4)
        old = scene.nemesis.save_dump()
        scene.nemesis.mark_redis()
        time.sleep(12)
        with scene.broken():
            scene.nemesis.restart_redis_with(old)
            scene.check_happened(not scene.nemesis.has_mark(), "Redis has the data of the dump")
        time.sleep(AFTER_S)
    impact = scene.during(Span(scene.spans[-1].began_s, time.monotonic()))
    scene.note(f"a dump of 12 s before: {impact.text()}")
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)


def _check_no_error(scene: Scene, span: Span, what: str) -> None:
    impact = scene.during(span)
    scene.note(f"{what}: {impact.text()}")
    scene.check_no_errors(impact.errors)


REDIS_DATA = [
    Experiment("F3", "FLUSHALL under load", _flush),
    Experiment("F6", "Redis comes back with an old dump", _restore_old_dump),
    Experiment("F7", "Redis has no memory left", _fill_memory),
    Experiment("F38", "single keys are evicted at random", _evict, in_ci=True),
]
