"""CI runs an experiment once more only if a crowded machine alone explains what does not hold.

An experiment shows something only if its fault happened: stores are asked, and logs are read.

Growth of memory, files and connections in a soak, its plot and what it keeps.
"""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from lab.faults import runner
from lab.faults.__main__ import exit_with
from lab.faults.cluster.cluster import PROCESSES
from lab.faults.cluster.links import socket_path
from lab.faults.cluster.log_faults import LogWatch
from lab.faults.cluster.store_answers import POSTGRES_QUESTION, REDIS_QUESTION, is_heard
from lab.faults.cluster.with_failpoints import HAPPENED
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment, ExperimentResult
from lab.faults.growth import growths
from lab.faults.history.promises import Promises, Span
from lab.faults.plot import plot
from lab.faults.random_faults import KILLED, draw_fault
from lab.faults.resources import ResourceSample
from lab.faults.soak import CALM_S
from lab.faults.soak_record import SoakRecord
from tests.server_faults import hanging, kill
from tests.services import private_services


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


NAME = "{http://www.w3.org/2000/svg}"
LIFE_S = 400
NO_CLUSTER: Any = None


def sample(at_s: float, **values: float) -> ResourceSample:
    """Values by process, in MB. Processes whose name ends with "0" are killed every LIFE_S."""
    lives = {name: int(at_s // LIFE_S) if name.endswith("0") else 7 for name in values}
    return ResourceSample(at_s, {f"{name} MB": value for name, value in values.items()}, lives)


def run(curve: Callable[[int], float], name: str = "web1") -> list[ResourceSample]:
    return [sample(at_s, **{name: curve(at_s)}) for at_s in range(0, 1800, 2)]


def flat(samples: list[ResourceSample]) -> dict[str, bool]:
    return {growth.name: growth.is_flat for growth in growths(samples)}


def test_value_that_rises_to_the_end_is_not_flat():
    assert flat(run(lambda at_s: 100 + at_s / 30)) == {"web": False}


def test_value_that_rises_at_the_start_is_flat():
    assert flat(run(lambda at_s: min(100.0, at_s))) == {"web": True}


def test_value_that_jumps_during_faults_is_flat():
    assert flat(run(lambda at_s: 100 + 30 * (at_s % 90 < 6))) == {"web": True}


@pytest.mark.parametrize("leak", [0.0, 0.2])
def test_killed_processes_are_judged_by_each_life(leak: float):
    """From the start of a process to its steady state is no growth; each life ends in a kill."""
    lives = run(lambda at_s: min(100.0, at_s % LIFE_S) + leak * (at_s % LIFE_S), "web0")
    assert flat(lives) == {"web, killed": leak == 0}


def test_killed_processes_do_not_hide_that_the_others_grow():
    both = [sample(at_s, web0=100, web1=100 + at_s / 30, drainer1=80) for at_s in range(0, 1800, 2)]
    assert flat(both) == {"web": False, "web, killed": True, "drainer": True}


@pytest.mark.parametrize("most", [130.0, 150.0])
def test_a_killed_process_may_grow_to_what_a_whole_life_needs(most: float):
    def curve(at_s: int) -> float:
        return 100 + (most - 100) * (at_s % LIFE_S) / LIFE_S

    both = [sample(at_s, web0=curve(at_s), web1=140) for at_s in range(0, 1800, 2)]
    assert flat(both) == {"web": True, "web, killed": most < 140}


def test_growth_says_what_it_measured():
    [growth] = growths(run(lambda at_s: 100 + at_s / 30))
    assert growth.text == "132 MB, +2.00 a minute in up to 28 min, lives: 1"


def test_nothing_is_judged_when_nothing_lives_long_enough():
    assert growths([]) == []
    assert growths(run(lambda at_s: at_s)[:100]) == []


def test_plot_has_a_line_for_each_life_and_a_bar_for_each_fault():
    samples = [sample(at_s, web0=100, web1=90) for at_s in range(0, 2 * LIFE_S, 2)]
    root = ElementTree.fromstring(plot(samples, [Span(10, 20)]))
    assert len(root.findall(f"{NAME}polyline")) == 3
    assert [one.get("fill") for one in root.findall(f"{NAME}rect")].count("#f2d7d5") == 3


def test_plot_says_its_units():
    root = ElementTree.fromstring(plot(run(lambda at_s: 100), []))
    texts = [one.text for one in root.findall(f"{NAME}text")]
    assert {"100 MB", "50 MB", "0 MB", "0.0 min", "30.0 min"} <= {*texts}


def test_plot_of_nothing_is_an_svg():
    assert ElementTree.fromstring(plot([], [])).tag == f"{NAME}svg"


def test_a_soak_keeps_its_faults_and_samples(tmp_path: Path):
    record = SoakRecord(42, 1000.0)
    record.samples = run(lambda at_s: 100)
    record.add_fault("web0 is killed", Span(1010.0, 1012.5))
    kept = json.loads(record.write(tmp_path).with_suffix(".json").read_text())
    assert kept["faults"] == [{"name": "web0 is killed", "began_s": 10.0, "ended_s": 12.5}]
    assert len(kept["samples"]) == len(record.samples)
    assert (tmp_path / "soak-42.svg").exists()


def test_a_calm_is_long_enough_that_late_posts_are_missed():
    """Else each fault excuses the posts of the pause before it, and no post is ever late."""
    promises = Promises(faults=(Span(0, 5), Span(5 + CALM_S, 30 + CALM_S)))
    posted_s = 5 + promises.recover_s + 1
    assert promises.due_s(posted_s) == posted_s + promises.visible_s < 5 + CALM_S


def test_some_processes_live_as_long_as_the_soak():
    assert {name.rstrip("01") for name in {*PROCESSES} - {*KILLED}} == {"web", "drainer"}


def test_next_faults_do_not_depend_on_the_keys_in_redis(monkeypatch: pytest.MonkeyPatch):
    assert draw_three(monkeypatch, keys=1) == draw_three(monkeypatch, keys=50)


def draw_three(monkeypatch: pytest.MonkeyPatch, keys: int) -> list[str]:
    @contextmanager
    def evict(_: object, rng: random.Random) -> Iterator[str]:
        drawn = [rng.random() for _ in range(keys)]
        yield str(drawn[0])

    monkeypatch.setattr("lab.faults.random_faults._FAULTS", [evict])
    rng, names = random.Random(3), list[str]()
    for _ in range(3):
        with draw_fault(NO_CLUSTER, rng) as name:
            names.append(name)
    return names
