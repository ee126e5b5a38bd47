"""The primary of a shard is lost under load, and its standbys elect the next one."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from lab.faults.elections.node import PatroniNode
from lab.faults.elections.programs import ElectionImpossible
from lab.faults.elections.services import SHARD, ElectedServices, elected_services
from lab.faults.elections.shard import LOOP_S, TTL_S
from lab.faults.experiments.scene import ALL_SHARDS, Scene
from lab.faults.experiments.types import Experiment, ExperimentSkipped
from lab.faults.history.promises import Span
from lab.faults.load.figures import between

CALLS_PER_S = 40.0
IDLE_S, AFTER_S = 6.0, 6.0
WITHIN_S, PROMISED_MS = float(TTL_S + LOOP_S), 1_000.0


@contextmanager
def _elected(
    data: Path, *, environ: Mapping[str, str], postgres_settings: Mapping[str, str]
) -> Iterator[ElectedServices]:
    """Raises ExperimentSkipped on a machine that cannot elect."""
    try:
        with elected_services(
            data, environ=environ, postgres_settings=postgres_settings
        ) as services:
            yield services
    except ElectionImpossible as error:
        raise ExperimentSkipped(str(error)) from error


def _kill_primary(scene: Scene) -> None:
    services = scene.cluster.services
    assert isinstance(services, ElectedServices)
    lost = services.primary()
    with scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        with scene.broken():
            lost.kill()
            killed_s = time.monotonic()
            scene.check_happened(lost.postmaster is None, f"{lost.name}, the primary, is dead")
            away_s = _wait_for_writes(scene, killed_s)
        time.sleep(AFTER_S)
    scene.note(f"writes again after {away_s:.1f} s")
    scene.check(away_s <= WITHIN_S, f"writes within {WITHIN_S:.0f} s", f"{away_s:.1f} s")
    _check_successor(scene, services, lost)
    _check_refusals(scene, scene.spans[-1])


def _wait_for_writes(scene: Scene, since_s: float) -> float:
    """Seconds until a post of the shard succeeds that was sent later; at most twice the promise."""
    while (waited_s := time.monotonic() - since_s) < 2 * WITHIN_S:
        posts = between(scene.load.timings, since_s, time.monotonic(), {SHARD}, {"post"})
        if any(post.status == HTTPStatus.OK for post in posts):
            break
        time.sleep(0.1)
    return waited_s


def _check_successor(scene: Scene, services: ElectedServices, lost: PatroniNode) -> None:
    primaries = [node.name for node in services.nodes if node.is_primary]
    is_another = len(primaries) == 1 and primaries != [lost.name]
    scene.check_happened(is_another, "one other server was elected", primaries)
    told = scene.cluster.attempt("shards", "check", "--shard", SHARD).stdout
    scene.check("may have lost" not in told, "no loss is noticed: the standby had all", told)


def _check_refusals(scene: Scene, span: Span) -> None:
    everyone, others = scene.during(span), scene.during(span, ALL_SHARDS - {SHARD})
    scene.note(f"no primary: {everyone.text()}")
    scene.note(f"accounts of other shards: {others.text()}")
    scene.check(not everyone.errors.keys() - {503}, "refusals are 503", everyone.errors)
    refused = [timing for timing in between(scene.load.timings, *span) if timing.is_error]
    scene.check_happened(bool(refused), "calls were refused", len(refused))
    longest_ms = 1e3 * max((timing.ended_s - timing.began_s for timing in refused), default=0.0)
    scene.note(f"the longest refusal took {longest_ms:.0f} ms")
    scene.check_latency(longest_ms, PROMISED_MS, "longest refusal")


ELECTIONS = [
    Experiment(
        "F47",
        "the primary of an elected shard is killed",
        _kill_primary,
        start=_elected,
    )
]
