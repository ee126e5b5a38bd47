"""Backups of a server of a private world, made and restored by the commands of the page about them.

They run as PostgreSQL's user, with the rights of an operator: what they create for Tideline must be
given to Tideline's role.
"""

import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict

from lab.runner.child import CHECKOUT
from lab.services.cluster import OWNER
from lab.services.postgres import PostgresServer
from tests.private_world import forget_connections

PAGE = CHECKOUT / "docs/how-to/back-up.md"
BLOCKS = re.compile(r"^ *```\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
OPERATOR = "operator"
OWNER_OF_DATABASE: LiteralString = (
    "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
)
# Of the page; the database of these servers has another name.
FOLDER, DATABASE = "/backup/", "tideline_shard1"


def commands(word: str) -> str:
    """The lines of the block of the page that has a command which begins with this word."""
    [block] = [one for one in BLOCKS.findall(PAGE.read_text()) if f"$ {word} " in one]
    return "\n".join(line.strip().removeprefix("$ ") for line in block.splitlines())


class Backup(ABC):
    """One backup of a server. `taken_by`, `restored_by`: programs of the page's commands."""

    taken_by: ClassVar[str]
    restored_by: ClassVar[str]

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._folder = server.folders.home / "backup"
        shutil.rmtree(self._folder, ignore_errors=True)
        self.make_folder(self._folder)
        with psycopg.connect(server.url) as owner:
            owner.execute(f"DROP ROLE IF EXISTS {OPERATOR}")
            owner.execute(f"CREATE ROLE {OPERATOR} SUPERUSER LOGIN")
        self._run(self.taken_by)

    def restore(self) -> None:
        """Raises AssertionError if a command fails, or if Tideline does not own its database."""
        forget_connections()
        self._restore()
        forget_connections()
        with psycopg.connect(self.server.url) as owner:
            assert owner.execute(OWNER_OF_DATABASE).fetchone() == (OWNER,)

    @abstractmethod
    def _restore(self) -> None: ...

    def make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        if self.server.user.switch:
            os.chown(folder, self.server.user.uid, self.server.user.gid)

    def _run(self, word: str) -> None:
        user = self.server.user
        text = commands(word).replace(FOLDER, f"{self._folder}/").replace(DATABASE, OWNER)
        done = subprocess.run(
            ["sh", "-euc", text],
            user=user.uid if user.switch else None,
            group=user.gid if user.switch else None,
            env=self._environment(),
            cwd=self._folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    def _environment(self) -> dict[str, str]:
        where = conninfo_to_dict(self.server.url)
        return {
            "PATH": f"{self.server.binary.program.parent}:{os.environ['PATH']}",
            "PGHOST": str(where["host"]),
            "PGPORT": str(where["port"]),
            "PGUSER": OPERATOR,
            "PGDATA": str(self.server.data),
        }


class BaseBackup(Backup):
    """Of the whole server. It is restored into an empty data folder, while the server is down."""

    taken_by, restored_by = "pg_basebackup", "tar"

    def _restore(self) -> None:
        self.server.stop()
        shutil.rmtree(self.server.data)
        self.make_folder(self.server.data)
        self._run(self.restored_by)
        self.server.start()


class Dump(Backup):
    """Of one database. It is restored while the server runs."""

    taken_by, restored_by = "pg_dump", "pg_restore"

    def _restore(self) -> None:
        self._run(self.restored_by)
