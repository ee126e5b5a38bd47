"""A small disk that cannot be mounted: nothing is moved, and the server is not stopped."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.faults.cluster.small_disk import CannotMount, small_disk


class Untouched:
    """A server that must not be stopped."""

    def __init__(self, folder: Path) -> None:
        self.name, self.data = "shard1", folder / "shard1"
        self.user = SimpleNamespace(uid=1, gid=1)
        self.data.mkdir()
        (self.data / "rows").write_text("a row")


def test_nothing_is_moved_where_nothing_can_be_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = tmp_path / "bin/mount"
    mount.parent.mkdir()
    mount.write_text("#!/bin/sh\necho 'must be superuser' >&2\nexit 32\n")
    mount.chmod(0o700)
    monkeypatch.setenv("PATH", f"{mount.parent}:/usr/bin:/bin")
    folder = tmp_path / "postgres"
    folder.mkdir()
    server: Any = Untouched(folder)
    with pytest.raises(CannotMount, match="must be superuser"), small_disk(server):
        raise AssertionError("nothing was mounted")
    assert [path.name for path in folder.iterdir()] == ["shard1"]
    assert (server.data / "rows").read_text() == "a row"
