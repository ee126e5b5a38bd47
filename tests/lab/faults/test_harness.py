"""The balancer of the load: it asks webs whether they are ready, and avoids those that are not.

Machines that cannot elect a primary: the experiment is skipped, and says why.

Where the library for another clock comes from.

The code of another version: a commit of this clone in a folder, or a clear refusal.

A small disk that cannot be mounted: nothing is moved, and the server is not stopped.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.faults.cluster import fake_time
from lab.faults.cluster.fake_time import NoFakeTime, find_fake_time
from lab.faults.cluster.small_disk import CannotMount, small_disk
from lab.faults.cluster.versions import VARIABLE, VersionNotCloned, checked_out, old_version
from lab.faults.elections import programs
from lab.faults.elections.programs import ElectionImpossible, find_programs
from lab.faults.experiments.elections import ELECTIONS
from lab.faults.load.balancer import Balancer
from lab.faults.load.probe import probing
from lab.faults.runner import run_all
from lab.runner.child import CHECKOUT
from lab.runner.port import free_port
from lab.services.server_user import server_user
from tests.waiting import PATIENCE_S, until

ENOUGH = 3


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health/ready" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def ready_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Ready) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_probing_says_which_port_answers_until_the_block_ends(ready_port: int) -> None:
    closed, answers, enough = free_port(), dict[int, list[bool]](), threading.Event()

    def keep(port: int, is_answered: bool) -> None:
        answers.setdefault(port, []).append(is_answered)
        if all(len(answers.get(one, ())) >= ENOUGH for one in (ready_port, closed)):
            enough.set()

    with probing([ready_port, closed], "/health/ready", 0.01, keep):
        assert enough.wait(PATIENCE_S)
    assert {port: set(some) for port, some in answers.items()} == {
        ready_port: {True},
        closed: {False},
    }
    heard = sum(map(len, answers.values()))
    time.sleep(0.05)
    assert heard == sum(map(len, answers.values())), "no thread asks after the block"


def test_clients_of_a_web_that_is_not_ready_go_to_the_other(ready_port: int) -> None:
    closed = free_port()
    balancer = Balancer({"web0": closed, "web1": ready_port})
    assert [balancer.port_for(client) for client in (0, 1)] == [closed, ready_port]
    with balancer.watching():
        until(lambda: not balancer.is_ready(closed))
    assert [balancer.port_for(client) for client in (0, 1)] == [ready_port, ready_port]


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


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the package, empty; the machine itself has no library."""
    package = tmp_path / "libfaketime"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(fake_time, "_MACHINE", (str(tmp_path / "usr"), "*/libfaketime.so.1"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return package


def test_the_library_of_the_wheel_is_found(wheel: Path) -> None:
    library = wheel / "vendor/libfaketime/src/libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert find_fake_time() == library


def test_a_wheel_without_a_library_is_as_good_as_none(wheel: Path) -> None:
    with pytest.raises(NoFakeTime, match="apt install faketime"):
        find_fake_time()


def test_the_library_of_the_machine_comes_first(wheel: Path) -> None:
    library = wheel.parent / "usr/x86_64/libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert find_fake_time() == library


def test_folder_has_the_code_of_the_commit_and_goes_again() -> None:
    has_git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, check=False).returncode
    if has_git:
        pytest.skip("not a clone")
    with checked_out("HEAD") as folder:
        assert (folder / "manage.py").is_file()
        assert (folder / "infra/changes/compensate.py").is_file()
        assert not (folder / ".git").exists()
    assert not folder.exists()


def test_commit_that_is_not_in_the_clone_is_named() -> None:
    missing = "0" * 40
    with pytest.raises(VersionNotCloned, match=missing), checked_out(missing):
        pass


def test_another_version_is_chosen_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "v1")
    assert old_version() == "v1"


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
