"""Judges what an experiment left, by the audits and the logs."""

from faults.experiments.scene import Scene
from faults.quiet import WITHIN_S, heal_and_drain

_SHOWN = 5


def judge(scene: Scene) -> None:
    """Heals everything, waits until it is quiet, and adds findings to the scene's result."""
    quiet = heal_and_drain(scene.cluster)
    result = scene.result
    result.recovered_s = max(quiet.drained_s, scene.recovered_s())
    scene.check(
        not quiet.undelivered, f"nothing waits after {WITHIN_S:.0f} s of quiet", quiet.undelivered
    )
    _check_audits(scene)
    tracebacks = scene.logs.tracebacks()
    scene.check(not tracebacks, "no traceback in a log", tracebacks[:_SHOWN])
    result.calls = len(scene.load.calls)
    result.errors = sum(timing.is_error for timing in scene.load.timings)


def _check_audits(scene: Scene) -> None:
    """Edges, counts and timelines, twice: a repair by the first run would hide nothing."""
    for number in (1, 2):
        audit = scene.cluster.manage("check_invariants")
        detail = (audit.stdout + audit.stderr)[-1000:] if audit.returncode else ""
        scene.check(audit.returncode == 0, f"audit {number} finds nothing", detail)
