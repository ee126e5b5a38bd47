"""The data of a PostgreSQL server on a small file system of its own, so that it can be filled."""

import errno
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.services import PostgresServer

# What is left of the file system until it is filled.
_ROOM_BYTES = 48 * 1024**2
_PIECE_BYTES = 1024**2


class CannotMount(RuntimeError):
    """This machine lets this user mount no file system; the text says why."""


class SmallDisk:
    """The file system that has the server's data."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leaves not one byte."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(_PIECE_BYTES))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self) -> None:
        """As before `fill`."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(server: PostgresServer) -> Iterator[SmallDisk]:
    """Moves the data of a running server to a small file system, and back when the block ends.

    The server restarts at the begin and at the end. Raises CannotMount before anything is moved.
    """
    aside = server.data.with_name(f"{server.name}-aside")
    mount = server.data.with_name(f"{server.name}-mount")
    _mount(server, mount)
    try:
        _move(server, mount, aside)
        try:
            yield SmallDisk(mount)
        finally:
            _move_back(server, mount, aside)
    finally:
        subprocess.run(["umount", "--lazy", str(mount)], check=False)
        with suppress(OSError):
            mount.rmdir()


def _mount(server: PostgresServer, mount: Path) -> None:
    user, size = server.user, _bytes_of(server.data) + _ROOM_BYTES
    mount.mkdir(mode=0o700)
    options = f"size={size},mode=0700,uid={user.uid},gid={user.gid}"
    words = ["mount", "-t", "tmpfs", "-o", options, "tideline-faults", str(mount)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        mount.rmdir()
        raise CannotMount(done.stderr.strip())


def _move(server: PostgresServer, mount: Path, aside: Path) -> None:
    """The server finds its data by a link."""
    server.stop()
    _copy(server.data, mount)
    server.data.rename(aside)
    server.data.symlink_to(mount)
    server.start()


def _move_back(server: PostgresServer, mount: Path, aside: Path) -> None:
    server.stop()
    (mount / "ballast").unlink(missing_ok=True)
    server.data.unlink()
    shutil.rmtree(aside)
    aside.mkdir(mode=0o700)
    _copy(mount, aside)
    shutil.chown(aside, server.user.uid, server.user.gid)
    aside.rename(server.data)
    server.start()


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)


def _bytes_of(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
