"""Runs experiments one after the other, on one cluster as long as it stays usable."""

import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from lab.faults.cluster.cluster import Cluster, running_cluster
from lab.faults.cluster.versions import VersionNotCloned, checked_out, old_version
from lab.faults.evidence import keep_evidence
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import (
    Experiment,
    ExperimentResult,
    ExperimentSkipped,
    Finding,
)
from lab.faults.judge import judge
from lab.runner.child import CHECKOUT


def run_all(
    experiments: Sequence[Experiment], seed: int, slack: float = 1.0
) -> Iterator[ExperimentResult]:
    """The results, as they come. Safety: call it from the main thread.

    `slack`: how many times the promise a latency may be.
    """
    with ExitStack() as stack:
        shared: Cluster | None = None
        for experiment in experiments:
            if experiment.needs_own_cluster:
                yield _run_on_own_cluster(experiment, seed, slack)
                continue
            if shared is None:
                shared = stack.enter_context(running_cluster())
            result = run_one(experiment, shared, seed, slack)
            yield result
            if not result.held and not result.skipped:
                # What it broke must not be blamed on the next one.
                stack.close()
                shared = None


def _run_on_own_cluster(experiment: Experiment, seed: int, slack: float) -> ExperimentResult:
    """A clone without the old version is a finding."""
    with ExitStack() as stack:
        try:
            checkout = CHECKOUT
            if experiment.begins_old:
                checkout = stack.enter_context(checked_out(old_version()))
        except VersionNotCloned as error:
            finding = Finding(False, "the old version is there", str(error))
            return ExperimentResult(experiment.number, experiment.title, seed, findings=[finding])
        settings = experiment.settings, experiment.postgres_settings
        start, on_redis_cluster = experiment.start, experiment.on_redis_cluster
        running = running_cluster(*settings, checkout, start, on_redis_cluster, experiment.drainers)
        try:
            own = stack.enter_context(running)
        except ExperimentSkipped as reason:
            return ExperimentResult(experiment.number, experiment.title, seed, skipped=str(reason))
        return run_one(experiment, own, seed, slack)


def run_one(
    experiment: Experiment, cluster: Cluster, seed: int, slack: float = 1.0
) -> ExperimentResult:
    """Runs one experiment and judges it. What breaks in the harness is a finding too."""
    result = ExperimentResult(experiment.number, experiment.title, seed)
    began_s = time.monotonic()
    try:
        scene = Scene(cluster, result, seed, slack)
        with scene.balancer.watching():
            _run_and_judge(experiment, scene)
    except ExperimentSkipped as reason:
        result.skipped = str(reason)
    except Exception as error:
        _note_broken(result, error)
    result.figures.append(f"load average of the machine {os.getloadavg()[0]:.0f}")
    result.took_s = time.monotonic() - began_s
    return result


def _run_and_judge(experiment: Experiment, scene: Scene) -> None:
    """Keeps the evidence also if the experiment or a judge breaks. Raises ExperimentSkipped."""
    try:
        scene.load.settle()
        experiment.run(scene)
        if experiment.has_fault:
            scene.check(scene.proofs > 0, "it was looked whether the fault happened")
        judge(scene)
    except ExperimentSkipped:
        raise
    except Exception as error:
        _note_broken(scene.result, error)
    if not scene.result.held:
        keep_evidence(scene)


def _note_broken(result: ExperimentResult, error: Exception) -> None:
    traceback.print_exc(file=sys.stderr)
    result.findings.append(Finding(False, "the experiment ran to its end", repr(error)))
