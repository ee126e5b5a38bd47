"""What the runner keeps of an experiment that broke."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.faults import evidence, runner
from lab.faults.experiments.types import Experiment, ExperimentResult, ExperimentSkipped


class EmptyScene:
    """A cluster without processes, and clients without calls."""

    def __init__(self, cluster: Any, result: ExperimentResult, seed: int, slack: float) -> None:
        self.result, self.cluster = result, cluster
        self.load = SimpleNamespace(settle=lambda: None, calls=[])
        self.balancer = SimpleNamespace(watching=nullcontext)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(runner, "Scene", EmptyScene)
    monkeypatch.setattr(runner, "judge", lambda scene: None)
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "kept")
    (tmp_path / "web0.log").write_text("a line")
    return SimpleNamespace(logs=tmp_path)


def run(cluster: Any, error: Exception) -> ExperimentResult:
    def broken(_: object) -> None:
        raise error

    return runner.run_one(Experiment("F99", "it breaks", broken), cluster, 7)


def test_an_experiment_that_breaks_keeps_its_logs_and_findings(cluster: Any, tmp_path: Path):
    result = run(cluster, RuntimeError("a client broke"))
    assert not result.held
    kept = json.loads((tmp_path / "kept/F99/result.json").read_text())
    assert kept["findings"] == [[False, "the experiment ran to its end", kept["findings"][0][2]]]
    assert "a client broke" in kept["findings"][0][2]
    assert (tmp_path / "kept/F99/web0.log").read_text() == "a line"
    assert (tmp_path / "kept/F99/history.jsonl").exists()


def test_a_skipped_experiment_keeps_nothing(cluster: Any, tmp_path: Path):
    assert run(cluster, ExperimentSkipped("no such thing here")).skipped == "no such thing here"
    assert not (tmp_path / "kept").exists()
