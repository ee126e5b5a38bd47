"""One Patroni with its PostgreSQL server, which may become the primary of a shard."""

import json
import shutil
import time
from pathlib import Path
from signal import SIGTERM

from infra.processes.free_ports import free_ports
from lab.faults.elections.shard import ElectedShard
from lab.runner.port import HOST, is_answering
from lab.services import Server
from lab.services.cluster import OWNER
from lab.services.folders import private_folder
from lab.services.process_tree import kill_tree

_GONE_WITHIN_S = 10.0


class PatroniNode(Server):
    """Patroni. Its PostgreSQL runs next to it, and not below it."""

    stop_signal = SIGTERM
    death_signal = SIGTERM  # Patroni then stops its PostgreSQL

    def __init__(self, shard: ElectedShard, number: int) -> None:
        name, folders = f"{shard.name}-node{number}", shard.like.folders
        super().__init__(
            name, folders.home / f"{name}.lock", folders.logs / f"{name}.log", shard.like.user
        )
        self.port, self.api_port = free_ports(2)
        self._shard = shard
        self._home = private_folder(folders.home / name, self.user)
        self._data = self._home / "data"

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}:{self._shard.password}@{HOST}:{self.port}/{OWNER}"

    def command(self) -> list[str]:
        """No server gets a PYTHONPATH: this Python puts the folder of Patroni there itself."""
        programs = self._shard.programs
        start = f"import sys; sys.path.insert(0, {str(programs.packages)!r})"
        run = "from patroni.__main__ import main; main()"
        return [str(programs.python), "-c", f"{start}; {run}", str(self._write_configuration())]

    def remove_leftovers(self) -> None:
        """Patroni does it."""

    def is_ready(self) -> bool:
        """Its PostgreSQL runs, as the primary or as a standby."""
        return self._answers("/health")

    @property
    def is_primary(self) -> bool:
        return self._answers("/primary")

    @property
    def is_synchronous(self) -> bool:
        """Commits of the primary wait for it."""
        return self._answers("/synchronous")

    @property
    def postmaster(self) -> int | None:
        """The process id of its PostgreSQL, if that runs."""
        try:
            number = int((self._data / "postmaster.pid").read_text().split()[0])
            words = Path(f"/proc/{number}/cmdline").read_bytes()
        except (FileNotFoundError, IndexError):
            return None
        return number if bytes(self._data) in words else None

    def kill(self) -> None:
        """kill -9 of Patroni and of its PostgreSQL, as when the machine is lost."""
        if self.is_running:
            kill_tree(self.process.pid)
            self.process.wait()
        if postmaster := self.postmaster:
            kill_tree(postmaster)
        until_s = time.monotonic() + _GONE_WITHIN_S
        while self.postmaster and time.monotonic() < until_s:
            time.sleep(0.01)

    def _answers(self, path: str) -> bool:
        return is_answering(self.api_port, path)

    def _write_configuration(self) -> Path:
        """Only the user of the servers can read it: it has the password."""
        file = self._home / "patroni.yml"
        file.touch(mode=0o600)
        file.write_text(
            json.dumps(self._shard.configuration(self.name, self._data, self.port, self.api_port))
        )
        if self.user.switch:
            shutil.chown(file, self.user.uid, self.user.gid)
        return file
