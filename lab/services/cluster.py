"""Creates PostgreSQL data folders: one initdb, then copies, because initdb is slow."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from lab.services.errors import ServerDidNotStart
from lab.services.folders import ServiceFolders
from lab.services.locks import RELEASE_WAIT_S, locked
from lab.services.machine import Binary
from lab.services.server_user import ServerUser
from lab.services.spawn import log_tail, server_environment, spawn

# The superuser and the database that every server has.
OWNER = "tideline"
_COPY = ("/bin/cp", "-Rp")
_INITDB = (
    "--auth=trust",  # only the socket accepts connections, and its folder is private
    "--locale=C",
    "--encoding=UTF8",
    "--no-sync",
    "--wal-segsize=1",
    f"--username={OWNER}",
)


def make_clusters(
    postgres: Binary,
    service_folders: ServiceFolders,
    user: ServerUser,
    folders: Sequence[Path],
    durable: bool,
) -> None:
    """Creates each data folder completely or not at all. Cost: about 1 s for five folders.

    The programs that create them hold a lock. After a killed run the next run waits for the lock,
    so two runs never write the same folder.
    """
    with locked(service_folders.home / "template.lock", RELEASE_WAIT_S) as lock:
        _ClusterMaker(postgres, service_folders, user, lock).make(folders, durable)


class _ClusterMaker:
    def __init__(
        self, postgres: Binary, service_folders: ServiceFolders, user: ServerUser, lock: int
    ) -> None:
        self._postgres = postgres
        self._template = service_folders.home / "template"
        self._log = service_folders.logs / "initdb.log"
        self._user = user
        self._lock = lock

    def make(self, folders: Sequence[Path], durable: bool) -> None:
        self._make_template()
        unfinished = [folder.with_name(folder.name + ".new") for folder in folders]
        for folder in unfinished:
            shutil.rmtree(folder, ignore_errors=True)
        self._wait([self._spawn(*_COPY, str(self._template), str(to)) for to in unfinished])
        if durable:
            os.sync()  # a power cut must not leave a folder with its final name and no content
        for folder, target in zip(unfinished, folders, strict=True):
            folder.rename(target)
        shutil.rmtree(self._template)

    def _make_template(self) -> None:
        shutil.rmtree(self._template, ignore_errors=True)
        initdb = str(self._postgres.program.with_name("initdb"))
        self._wait([self._spawn(initdb, *_INITDB, f"--pgdata={self._template}")])
        self._create_database()

    def _create_database(self) -> None:
        """A single-user server reads the command from standard input."""
        program = [str(self._postgres.program), "--single", "-D", str(self._template)]
        with TemporaryFile() as stdin:
            stdin.write(f"CREATE DATABASE {OWNER}\n".encode())
            stdin.seek(0)
            self._wait([self._spawn(*program, "-c", "fsync=off", "postgres", stdin=stdin)])

    def _spawn(
        self, *argv: str, stdin: int | IO[bytes] = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        return spawn(
            argv,
            self._log,
            env=server_environment(),
            user=self._user,
            keep_open=[self._lock],
            stdin=stdin,
        )

    def _wait(self, processes: Sequence[subprocess.Popen[bytes]]) -> None:
        codes = [process.wait() for process in processes]
        if any(codes):
            tail = log_tail(self._log)
            raise ServerDidNotStart("initdb", f"exit codes {codes}", self._log, tail)
