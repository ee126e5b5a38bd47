"""Machines that cannot elect a primary: the experiment is skipped, and says why."""

from pathlib import Path

import pytest

from lab.faults.elections import programs
from lab.faults.elections.programs import ElectionImpossible, find_programs
from lab.faults.experiments.elections import ELECTIONS
from lab.faults.runner import run_all
from lab.services.server_user import server_user


def test_without_etcd_the_experiment_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "which", lambda _: None)
    [result] = run_all(ELECTIONS, seed=1)
    assert result.skipped == "there is no etcd; on Debian: apt install etcd-server"
    assert result.findings == []


def test_a_python_that_the_user_of_postgresql_cannot_run_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patroni would start and wait for ever."""
    monkeypatch.setattr(programs, "which", lambda _: "/usr/bin/etcd")
    monkeypatch.setattr(programs, "can_reach", lambda user, paths: False)
    with pytest.raises(ElectionImpossible, match=f"{server_user().name}.*can reach no python3"):
        find_programs(server_user(), tmp_path)
