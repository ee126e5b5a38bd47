"""Backups of a server of a private world, as the documents say they are made and restored."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg

from lab.services.postgres import PostgresServer
from tests.private_world import forget_connections

Restore = Callable[[], None]


def take_backup(server: PostgresServer, folder: Path) -> Restore:
    """By pg_dump, if the machine has one; else of the data folder."""
    found = _find(server, "pg_dump"), _find(server, "pg_restore")
    return _dump(server, folder, *found) if all(found) else _copy(server, folder)


def _dump(server: PostgresServer, folder: Path, pg_dump: str, pg_restore: str) -> Restore:
    """While the server runs; restored into a new, empty database."""
    path = str(folder / "shard.dump")
    _run(pg_dump, "--format=custom", f"--file={path}", server.url)

    def restore() -> None:
        forget_connections()
        with psycopg.connect(server.url, dbname="postgres", autocommit=True) as admin:
            admin.execute("DROP DATABASE tideline WITH (FORCE)")
            admin.execute("CREATE DATABASE tideline")
        _run(pg_restore, "--exit-on-error", "--single-transaction", f"--dbname={server.url}", path)
        forget_connections()

    return restore


def _copy(server: PostgresServer, folder: Path) -> Restore:
    """While the server is stopped, as a base backup has it."""
    copy = str(folder / "data")
    _while_stopped(server, lambda: _run("cp", "-a", str(server.data), copy))

    def put_back() -> None:
        shutil.rmtree(server.data)
        _run("cp", "-a", copy, str(server.data))

    return lambda: _while_stopped(server, put_back)


def _while_stopped(server: PostgresServer, act: Callable[[], None]) -> None:
    forget_connections()
    server.stop()
    act()
    server.start()
    forget_connections()


def _find(server: PostgresServer, name: str) -> str:
    """The program of the server's own version, or the machine's; empty without one."""
    beside = server.binary.program.with_name(name)
    return str(beside) if beside.exists() else shutil.which(name) or ""


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
