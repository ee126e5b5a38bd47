"""Where data and sockets go, and what is refused there.

A lock on a folder lives as long as whoever works on it.

URLs in the environment come before anything that would be started.
"""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from signal import SIGKILL

import pytest

from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.errors import (
    DatabaseUrlsIncomplete,
    DataInUse,
    DataMissing,
    FolderNotPrivate,
    StartedOffMainThread,
)
from lab.services.folders import prepare_folders, private_folder, remove_folders
from lab.services.locks import locked
from lab.services.server_user import server_user
from lab.services.spawn import spawn
from tests.services import are_gone
from tests.waiting import PATIENCE_S, until

LONGEST_SOCKET_BYTES = 107


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    yield folder
    remove_folders(folder)


def socket_bytes(folder: Path) -> int:
    return len(os.fsencode(folder / ".s.PGSQL.5432"))


def test_everything_private_belongs_to_the_user_of_the_servers(data):
    folders = prepare_folders(data, server_user())
    for folder in (folders.home, folders.sockets):
        found = folder.stat()
        assert stat.S_IMODE(found.st_mode) == 0o700
        assert found.st_uid == server_user().uid


@pytest.mark.parametrize("name", ["x" * 120, "with a space", "ümläut"])
def test_sockets_move_to_a_short_plain_place(tmp_path, name):
    data = tmp_path / name
    folders = prepare_folders(data, server_user())
    assert socket_bytes(folders.sockets) <= LONGEST_SOCKET_BYTES
    assert str(folders.sockets).isascii()
    assert " " not in str(folders.sockets)
    assert prepare_folders(data, server_user()) == folders
    remove_folders(data)
    assert not folders.sockets.exists()
    assert not folders.home.exists()


def test_data_moves_when_the_server_user_cannot_reach_the_folder(tmp_path):
    if not server_user().switch:
        pytest.skip("only root runs servers as somebody else")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    home = prepare_folders(closed / "data", server_user()).home
    assert not home.is_relative_to(tmp_path)
    closed.chmod(0o755)
    assert prepare_folders(closed / "data", server_user()).home == home
    remove_folders(closed / "data")
    assert not home.exists()


def test_data_that_vanished_is_not_silently_begun_again(data):
    data.mkdir()
    (data / "services").symlink_to(data / "gone")
    with pytest.raises(DataMissing, match="gone"):
        prepare_folders(data, server_user())
    (data / "services").unlink()


def test_folder_that_others_can_enter_is_refused(tmp_path):
    folder = private_folder(tmp_path / "mine", server_user())
    folder.chmod(0o755)
    with pytest.raises(FolderNotPrivate):
        private_folder(folder, server_user())


def test_link_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(private_folder(tmp_path / "elsewhere", server_user()))
    with pytest.raises(FolderNotPrivate):
        private_folder(tmp_path / "link", server_user())


@pytest.mark.parametrize("before", [None, 0o755])
def test_logs_are_closed_to_other_users_also_those_of_an_older_run(data, before):
    if before is not None:
        (data / "logs").mkdir(parents=True, mode=before)
    logs = prepare_folders(data, server_user()).logs
    assert stat.S_IMODE(logs.stat().st_mode) == 0o700


CHECKOUT = Path(__file__).parents[3]


def sleeper(tmp_path, **options):
    return spawn(["/bin/sleep", "60"], tmp_path / "log", env={}, **options)


def test_second_taker_is_told_who_holds_the_lock(tmp_path):
    with (
        locked(tmp_path / "lock"),
        pytest.raises(DataInUse, match=f"{tmp_path} is in use by process {os.getpid()}"),
        locked(tmp_path / "lock"),
    ):
        pass


def test_lock_stays_with_the_child_that_inherited_it(tmp_path):
    with locked(tmp_path / "lock") as lock:
        child = sleeper(tmp_path, keep_open=[lock])
    with pytest.raises(DataInUse), locked(tmp_path / "lock", wait_s=0.1):
        pass
    child.kill()
    child.wait()
    with locked(tmp_path / "lock"):
        pass


def test_child_is_out_of_reach_of_the_terminal(tmp_path):
    child = sleeper(tmp_path)
    assert os.getsid(child.pid) == child.pid
    child.kill()
    child.wait()


def test_child_whose_parent_is_already_gone_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1 << 22)
    assert sleeper(tmp_path).wait(PATIENCE_S) == 1
    assert "has died" in (tmp_path / "log").read_text()


def test_child_dies_with_its_parent(tmp_path):
    """The parent is a process in between; its end, not its wish, ends the child."""
    script = (
        "import pathlib, sys, time; from lab.services.spawn import spawn;"
        "child = spawn(['/bin/sleep', '3600'], pathlib.Path(sys.argv[1]), env={});"
        "print(child.pid, flush=True); time.sleep(3600)"  # until killed
    )
    command = [sys.executable, "-c", script, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(SIGKILL)
        parent.wait()
        until(lambda: are_gone([child]))


def test_server_is_not_started_from_a_thread(tmp_path):
    refused = []

    def start():
        try:
            sleeper(tmp_path)
        except StartedOffMainThread as error:
            refused.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refused


GIVEN = {
    "DATABASE_URL": "postgresql://db/one",
    "SHARD_DATABASE_URLS": "postgresql://db/two,postgresql://db/three",
    "REDIS_URL": "redis://cache/0",
}


def test_nothing_is_started_or_made_when_all_urls_are_given(tmp_path):
    with running_services(tmp_path / "data", environ=GIVEN) as services:
        assert services.environment() == GIVEN
        assert services.servers == []
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("missing", ["DATABASE_URL", "SHARD_DATABASE_URLS"])
@pytest.mark.parametrize("empty", [True, False])
def test_half_of_the_databases_is_refused(tmp_path, missing, empty):
    environ = {**GIVEN, missing: ""} if empty else {k: GIVEN[k] for k in GIVEN if k != missing}
    with (
        pytest.raises(DatabaseUrlsIncomplete, match=f"{missing} is not"),
        running_services(tmp_path / "data", environ=environ),
    ):
        pass


def test_only_what_is_not_given_is_started(tmp_path):
    data = tmp_path / "data"
    databases = {name: url for name, url in GIVEN.items() if name != "REDIS_URL"}
    with running_services(data, environ=databases) as services:
        assert services.postgres == {}
        assert services.redis is not None
        assert services.redis.is_running
        assert services.environment() == databases | {"REDIS_URL": services.redis.url}
    assert not services.redis.is_running
    delete_data(data)
