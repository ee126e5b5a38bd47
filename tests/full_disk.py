"""The disk of a real server of PostgreSQL is full. The disk is memory, so it needs root."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.services.postgres import PostgresServer

# A smaller disk would have no room for the log that a start writes.
SPARE_BYTES = 48 << 20
_CHUNK = bytes(1 << 16)


@contextmanager
def small_disk(server: PostgresServer) -> Iterator[Path]:
    """The server has a disk of its own during the block. Gives a file that may fill it."""
    data, aside = server.data, server.data.with_name(f"{server.data.name}.aside")
    server.stop()
    data.rename(aside)
    shutil.copystat(aside, _made(data))
    size = sum(file.stat().st_size for file in aside.rglob("*") if file.is_file()) + SPARE_BYTES
    owner = aside.stat()
    options = f"size={size},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", data], check=True)
    try:
        subprocess.run(["cp", "-a", f"{aside}/.", data], check=True)
        server.start()
        yield data / "filler"
    finally:
        server.stop()
        subprocess.run(["umount", "--lazy", data], check=True)
        data.rmdir()
        aside.rename(data)
        server.start()


def fill(filler: Path) -> None:
    """Writes until the disk is full."""
    with filler.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(_CHUNK)
        except OSError:
            return


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
