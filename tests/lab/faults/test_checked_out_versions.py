"""The code of another version: a commit of this clone in a folder, or a clear refusal."""

import subprocess

import pytest

from lab.faults.cluster.versions import VARIABLE, VersionNotCloned, checked_out, old_version
from lab.runner.child import CHECKOUT


def test_folder_has_the_code_of_the_commit_and_goes_again() -> None:
    has_git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, check=False).returncode
    if has_git:
        pytest.skip("not a clone")
    with checked_out("HEAD") as folder:
        assert (folder / "manage.py").is_file()
        assert (folder / "infra/changes/drain.py").is_file()
        assert not (folder / ".git").exists()
    assert not folder.exists()


def test_commit_that_is_not_in_the_clone_is_named() -> None:
    missing = "0" * 40
    with pytest.raises(VersionNotCloned, match=missing), checked_out(missing):
        pass


def test_another_version_is_chosen_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "v1")
    assert old_version() == "v1"
