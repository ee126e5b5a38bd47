"""What is in the repository: nothing that .gitignore names, such as fetched programs."""

import shutil
import subprocess

import pytest

from lab.runner.child import CHECKOUT

LIST_IGNORED = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]


@pytest.mark.skipif(
    shutil.which("git") is None or not (CHECKOUT / ".git").exists(), reason="not a git checkout"
)
def test_no_ignored_file_is_tracked() -> None:
    """`git add -A` takes such files if it runs while the entry of .gitignore is missing."""
    listed = subprocess.run(LIST_IGNORED, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert listed.stdout == ""
