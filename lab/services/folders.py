"""Folders for the servers' data, sockets and copied programs, all reachable for their user.

DATA/            the data folder that the caller names: lock, logs/ and the caller's own files
DATA/services/   private to the user that runs the servers. It is a link to
                 /var/tmp/tideline-UID-HASH/ when that user cannot reach DATA, for example a
                 checkout in a home folder that is closed to others
"""

import hashlib
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from lab.services.errors import DataMissing, FolderNotPrivate
from lab.services.locks import RELEASE_WAIT_S, locked
from lab.services.server_user import ServerUser, can_reach

_SHARED_FOLDER = Path("/var/tmp")
_SHORT_FOLDER = Path("/tmp")
# A socket's whole path must fit into 103 bytes (macOS; 107 on Linux), and the longest name is
# "/.s.PGSQL.5432". Plain characters need no quoting in URLs and in PostgreSQL's list of folders.
_FIT_FOR_SOCKETS = re.compile(r"[A-Za-z0-9._/-]{1,89}")


@dataclass(frozen=True)
class ServiceFolders:
    """The folders of one set of servers. All of them exist."""

    data: Path
    home: Path
    sockets: Path
    logs: Path


def prepare_folders(data: Path, user: ServerUser) -> ServiceFolders:
    """Creates the folders below `data`, or in a shared folder when `user` cannot reach `data`.

    Safety: idempotent; the link `data`/services records the choice.
    Raises FolderNotPrivate, DataMissing.
    """
    data = data.absolute()
    data.mkdir(parents=True, exist_ok=True)
    if data.stat().st_uid != os.getuid():
        raise FolderNotPrivate(data, f"uid {os.getuid()}")
    # The user that runs the servers must pass through `data`, but need not list it.
    data.chmod(0o711 if user.switch else 0o700)
    logs = closed_folder(data / "logs")
    home = _home(data, user)
    return ServiceFolders(data, home, _sockets(home, user), logs)


def _home(data: Path, user: ServerUser) -> Path:
    services = data / "services"
    if services.is_symlink() and not services.exists():
        raise DataMissing(services, services.readlink())
    if not services.exists() and not can_reach(user, [data]):
        services.symlink_to(private_folder(_SHARED_FOLDER / _name(data), user))
    return private_folder(services.resolve(), user)


def _sockets(home: Path, user: ServerUser) -> Path:
    inside = home / "sockets"
    fits = _FIT_FOR_SOCKETS.fullmatch(str(inside))
    return private_folder(inside if fits else _SHORT_FOLDER / _name(inside), user)


def _name(path: Path) -> str:
    """A folder name that no other user and no other `path` has, for a shared folder."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return f"tideline-{os.getuid()}-{digest[:12]}"


def private_folder(folder: Path, user: ServerUser) -> Path:
    """Creates a folder that only `user` can enter. Raises FolderNotPrivate for any other folder.

    In a shared folder another user may have created one with this name.
    """
    try:
        folder.mkdir(mode=0o700)
        if user.switch:
            os.chown(folder, user.uid, user.gid)
    except FileExistsError:
        state = folder.lstat()
        if not (stat.S_ISDIR(state.st_mode) and state.st_uid == user.uid) or state.st_mode & 0o077:
            raise FolderNotPrivate(folder, user.name) from None
    return folder


def closed_folder(folder: Path) -> Path:
    """Creates a folder that no other user can enter, or closes the one that is there.

    Logs have mails with links for new passwords, and images may be private.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def remove_folders(data: Path) -> None:
    """Deletes `data` and the folders made for it elsewhere, after its last server has ended.

    Raises DataInUse when a server still runs after 10 s.
    """
    home = (data / "services").resolve()
    for lock in [*home.glob("*.lock"), *home.glob("postgres/*.lock")]:
        with locked(lock, RELEASE_WAIT_S):
            pass
    for folder in (_SHORT_FOLDER / _name(home / "sockets"), home, data.absolute()):
        if folder.exists():
            shutil.rmtree(folder)
