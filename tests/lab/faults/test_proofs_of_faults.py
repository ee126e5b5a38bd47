"""An experiment shows something only if its fault happened: stores are asked, and logs are read."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.faults import runner
from lab.faults.cluster.links import socket_path
from lab.faults.cluster.log_faults import LogWatch
from lab.faults.cluster.store_answers import POSTGRES_QUESTION, REDIS_QUESTION, is_heard
from lab.faults.cluster.with_failpoints import HAPPENED
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment, ExperimentResult
from tests.server_faults import hanging, kill
from tests.services import private_services


def test_a_store_is_heard_until_it_hangs_or_is_dead() -> None:
    with private_services(shard_count=1) as services:
        postgres, redis = services.postgres["shard0"], services.redis
        for server, question in ((postgres, POSTGRES_QUESTION), (redis, REDIS_QUESTION)):
            path = socket_path(server.url)
            assert is_heard(path, question)
            with hanging(server):
                assert not is_heard(path, question)
            assert is_heard(path, question)
            kill(server)
            assert not is_heard(path, question)


def test_an_armed_failpoint_has_happened_since_the_watch_began(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text(f"{HAPPENED}before\n")
    watch = LogWatch({"web": log, "none": tmp_path / "none"})
    with log.open("a") as more:
        more.write(f"{HAPPENED}a.place\n")
    assert [watch.has_happened(one) for one in ("a.place", "before", "a")] == [True, False, False]


@pytest.mark.parametrize(
    ("has_fault", "proofs", "held"), [(True, 0, False), (True, 1, True), (False, 0, True)]
)
def test_an_experiment_that_does_not_look_for_its_fault_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, has_fault: bool, proofs: int, held: bool
) -> None:
    def run(scene: Scene) -> None:
        for _ in range(proofs):
            scene.check_happened(True, "it hangs")

    monkeypatch.setattr(runner, "judge", lambda scene: None)
    monkeypatch.setattr(runner, "keep_evidence", lambda scene: None)
    scene = Scene.__new__(Scene)
    scene.proofs, scene.result = 0, ExperimentResult("F0", "any", 1)
    scene.load = SimpleNamespace(settle=lambda: None)
    runner._run_and_judge(Experiment("F0", "any", run, has_fault=has_fault), scene)
    assert scene.result.held is held
