"""Keeps what an experiment that does not hold has left: its findings, its history and the logs."""

import json
import shutil
from dataclasses import asdict

from lab.faults.experiments.scene import Scene
from lab.faults.history.calls import write_calls
from lab.runner.child import CHECKOUT

FOLDER = CHECKOUT / ".artifacts/faults"


def keep_evidence(scene: Scene) -> None:
    """Replaces what was kept of the same experiment."""
    folder = FOLDER / scene.result.number
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(asdict(scene.result), indent=2) + "\n")
    write_calls(folder / "history.jsonl", scene.load.calls)
    for log in scene.cluster.logs.glob("*.log"):
        shutil.copy(log, folder)
