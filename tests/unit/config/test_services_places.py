"""Where data and sockets go, and what is refused there."""

import os
import stat
from pathlib import Path

import pytest

from config.services.errors import DataGone, FolderNotOurs
from config.services.places import prepare_places, private_folder, remove_places
from config.services.server_user import server_user

LONGEST_SOCKET_BYTES = 107


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    yield folder
    remove_places(folder)


def socket_bytes(folder: Path) -> int:
    return len(os.fsencode(folder / ".s.PGSQL.5432"))


def test_everything_private_belongs_to_the_user_of_the_servers(data):
    places = prepare_places(data, server_user())
    for folder in (places.home, places.sockets):
        found = folder.stat()
        assert stat.S_IMODE(found.st_mode) == 0o700
        assert found.st_uid == server_user().uid


@pytest.mark.parametrize("name", ["x" * 120, "with a space", "ümläut"])
def test_sockets_move_to_a_short_plain_place(tmp_path, name):
    data = tmp_path / name
    places = prepare_places(data, server_user())
    assert socket_bytes(places.sockets) <= LONGEST_SOCKET_BYTES
    assert str(places.sockets).isascii()
    assert " " not in str(places.sockets)
    assert prepare_places(data, server_user()) == places
    remove_places(data)
    assert not places.sockets.exists()
    assert not places.home.exists()


def test_data_moves_when_the_server_user_cannot_reach_the_folder(tmp_path):
    if not server_user().switch:
        pytest.skip("only root runs servers as somebody else")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    home = prepare_places(closed / "data", server_user()).home
    assert not home.is_relative_to(tmp_path)
    closed.chmod(0o755)
    assert prepare_places(closed / "data", server_user()).home == home
    remove_places(closed / "data")
    assert not home.exists()


def test_data_that_vanished_is_not_silently_begun_again(data):
    data.mkdir()
    (data / "services").symlink_to(data / "gone")
    with pytest.raises(DataGone, match="gone"):
        prepare_places(data, server_user())
    (data / "services").unlink()


def test_folder_that_others_can_enter_is_refused(tmp_path):
    folder = private_folder(tmp_path / "mine", server_user())
    folder.chmod(0o755)
    with pytest.raises(FolderNotOurs):
        private_folder(folder, server_user())


def test_link_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(private_folder(tmp_path / "elsewhere", server_user()))
    with pytest.raises(FolderNotOurs):
        private_folder(tmp_path / "link", server_user())
