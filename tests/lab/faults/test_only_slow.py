"""CI runs an experiment once more only if a crowded machine alone explains what does not hold."""

from collections.abc import Callable

import pytest

from lab.faults.__main__ import exit_with
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import ExperimentResult


def slow(scene: Scene) -> None:
    scene.check_latency(1_437, 400, "p99 at most 400 ms")


def refused(scene: Scene) -> None:
    scene.check_no_errors({503: 1})


def broken(scene: Scene) -> None:
    scene.check_no_errors({503: 1, 500: 1})


def lost(scene: Scene) -> None:
    scene.check(False, "the end state is what the writes leave")


def after(*checks: Callable[[Scene], None]) -> ExperimentResult:
    scene = Scene.__new__(Scene)
    scene.result, scene._slack = ExperimentResult("F5", "any", 1), 3.0
    for check in checks:
        check(scene)
    return scene.result


@pytest.mark.parametrize(
    ("checks", "was_only_slow"),
    [
        ([], False),
        ([slow], True),
        ([slow, refused], True),
        ([slow, broken], False),
        ([refused, lost], False),
    ],
)
def test_what_a_crowded_machine_explains(
    checks: list[Callable[[Scene], None]], was_only_slow: bool
) -> None:
    assert after(*checks).was_only_slow is was_only_slow


def test_what_ci_reads(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"does not hold \(seed 7\): F5,F5"):
        exit_with([after(slow), after(refused)], seed=7)
    assert capsys.readouterr().out == "only slow: F5,F5\n"


def test_a_loss_is_never_only_slow(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        exit_with([after(slow), after(slow, lost)], seed=7)
    assert capsys.readouterr().out == ""
