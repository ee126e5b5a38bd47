"""Coverage of faults: the points of the product, what a process reached, and what a run missed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.changes.failpoints import failpoint
from infra.telemetry.reached_branches import observe_reached, reached
from lab.faults.coverage.points import find_points
from lab.faults.coverage.record import VARIABLE, ReachedFile, read_reached, record_reached
from lab.faults.coverage.report import ELSEWHERE, unreached


@pytest.fixture(autouse=True)
def _not_observed() -> Iterator[None]:
    yield
    observe_reached(None)


def test_all_points_of_the_product_are_found() -> None:
    points = find_points()
    assert {"drain.before_filing", "relations.edge_moved", "breaker.opened"} <= {*points}
    assert len(points) > 60


def test_a_name_that_is_no_literal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "drawn.py").write_text("reached(name)\n")
    with pytest.raises(ValueError, match="no literal"):
        find_points(tmp_path)


def test_a_process_writes_what_it_reached_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    record_reached()
    for _ in range(3):
        reached("a.branch")
        failpoint("a.failpoint")
    assert (tmp_path / str(os.getpid())).read_text() == "a.branch\na.failpoint\n"
    assert read_reached(tmp_path) == {"a.branch", "a.failpoint"}


def test_nothing_is_written_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    record_reached()
    reached("a.branch")
    assert read_reached(tmp_path) == set()


def test_what_a_run_missed_is_named() -> None:
    points = {"a.reached", "a.missed", *ELSEWHERE}
    assert unreached(points, {"a.reached"}) == ["a.missed"]


def test_a_name_is_written_before_the_process_is_killed(tmp_path: Path) -> None:
    ReachedFile(tmp_path)("a.branch")
    assert read_reached(tmp_path) == {"a.branch"}
