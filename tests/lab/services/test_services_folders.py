"""Where data and sockets go, and what is refused there."""

import os
import stat
from pathlib import Path

import pytest

from lab.services.errors import DataMissing, FolderNotPrivate
from lab.services.folders import prepare_folders, private_folder, remove_folders
from lab.services.server_user import server_user

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
