"""Where the servers keep data, sockets and copied binaries, such that they can reach them.

DATA/            the folder that was asked for: lock, logs/, and what else its owner keeps
DATA/services/   private to the user that runs the servers; a link when that user cannot reach
                 DATA (a checkout under a closed home): then to /var/tmp/tideline-HASH/
"""

import hashlib
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from config.services.errors import DataMissing, FolderNotPrivate
from config.services.locks import RELEASE_WAIT_S, locked
from config.services.server_user import ServerUser, can_reach

_SHARED_FOLDER = Path("/var/tmp")  # noqa: S108  (names there are checked for their owner)
_SHORT_FOLDER = Path("/tmp")  # noqa: S108
# A socket's whole path fits into 107 bytes on Linux, 103 on macOS; the longest name is
# "/.s.PGSQL.5432". Plain, so that it needs no quoting in URLs and PostgreSQL's list of folders.
_FIT_FOR_SOCKETS = re.compile(r"[A-Za-z0-9._/-]{1,89}")


@dataclass(frozen=True)
class ServiceFolders:
    """Folders of one set of services, all of them made."""

    data: Path
    home: Path
    sockets: Path
    logs: Path


def prepare_folders(data: Path, user: ServerUser) -> ServiceFolders:
    """Makes the folders under `data`, or elsewhere where `user` could not reach them.

    Safety: idempotent; the choice is remembered by the link. Raises FolderNotOurs, DataGone.
    """
    data = data.absolute()
    data.mkdir(parents=True, exist_ok=True)
    if data.stat().st_uid != os.getuid():
        raise FolderNotPrivate(data, f"uid {os.getuid()}")
    # Whoever runs the servers must pass through, and needs to see nothing else here.
    data.chmod(0o711 if user.switch else 0o700)
    logs = data / "logs"
    logs.mkdir(exist_ok=True, mode=0o700)
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
    """A name for a folder in a place shared by all users, the same for the same path."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()
    return f"tideline-{os.getuid()}-{digest[:12]}"


def private_folder(folder: Path, user: ServerUser) -> Path:
    """Makes a folder only `user` can enter; in a shared place somebody may have made another."""
    try:
        folder.mkdir(mode=0o700)
        if user.switch:
            os.chown(folder, user.uid, user.gid)
    except FileExistsError:
        found = folder.lstat()
        if not (stat.S_ISDIR(found.st_mode) and found.st_uid == user.uid) or found.st_mode & 0o077:
            raise FolderNotPrivate(folder, user.name) from None
    return folder


def remove_folders(data: Path) -> None:
    """Deletes the folder and what lies elsewhere for it, once its last server has ended.

    Raises DataInUse when one goes on for 10 s.
    """
    home = (data / "services").resolve()
    for lock in [*home.glob("*.lock"), *home.glob("postgres/*.lock")]:
        with locked(lock, RELEASE_WAIT_S):
            pass
    for folder in (_SHORT_FOLDER / _name(home / "sockets"), home, data.absolute()):
        if folder.exists():
            shutil.rmtree(folder)
