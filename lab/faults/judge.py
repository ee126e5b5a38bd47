"""Judges what an experiment left: by the histories of its clients, the audits and the logs."""

from collections import Counter
from collections.abc import Sequence

from lab.faults.end_state import gather_end_state
from lab.faults.experiments.scene import Scene
from lab.faults.heal_and_drain import WITHIN_S, heal_and_drain
from lab.faults.history.checker import check_history
from lab.faults.history.promises import Promises
from lab.faults.history.violations import Violation
from lab.faults.oracle.oracle import check_end_state

_SHOWN = 5
_LOST = ("lost", "missing")


def judge(scene: Scene) -> None:
    """Heals everything, waits until it is quiet, and adds findings to the scene's result."""
    quiet = heal_and_drain(scene.cluster)
    result = scene.result
    result.recovered_s = max(quiet.drained_s, scene.recovered_s())
    scene.check(
        not quiet.undelivered, f"nothing waits after {WITHIN_S:.0f} s of quiet", quiet.undelivered
    )
    _check_audits(scene)
    _check_history(scene)
    tracebacks = scene.logs.tracebacks()
    scene.check(not tracebacks, "no traceback in a log", tracebacks[:_SHOWN])
    result.calls = len(scene.load.calls)
    result.errors = sum(timing.is_error for timing in scene.load.timings)


def _check_audits(scene: Scene) -> None:
    """Edges, counts and timelines, twice: the first run might repair what it reads."""
    for number in (1, 2):
        audit = scene.cluster.attempt("audit", "invariants")
        detail = (audit.stdout + audit.stderr)[-1000:] if audit.returncode else ""
        scene.check(audit.returncode == 0, f"audit {number} finds nothing", detail)


def _check_history(scene: Scene) -> None:
    """All answers can be right, and the end state is what the acknowledged writes leave."""
    calls = scene.load.calls
    answers = check_history(calls, Promises(faults=tuple(scene.spans)))
    scene.check(not answers, "all answers can be right", _told(answers))
    end = check_end_state(calls, gather_end_state(scene.accounts, scene.balancer))
    scene.result.lost = sum(violation.rule in _LOST for violation in end)
    scene.check(not end, "the end state is what the writes leave", _told(end))


def _told(violations: Sequence[Violation]) -> str:
    if not violations:
        return ""
    rules = dict(Counter(violation.rule for violation in violations))
    return f"{rules}: " + "; ".join(str(violation) for violation in violations[:_SHOWN])
