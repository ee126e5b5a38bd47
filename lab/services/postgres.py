"""A small PostgreSQL server for one database, on a unix socket only."""

from collections.abc import Mapping
from pathlib import Path
from signal import SIGINT, SIGQUIT

from lab.services.cluster import OWNER
from lab.services.folders import ServiceFolders
from lab.services.machine import Binary
from lab.services.server import Server
from lab.services.server_user import ServerUser

FIRST_PORT = 5432  # a part of the socket's name; no TCP port is opened
# Where it listens and logs, and its limit on disk. All else is as PostgreSQL has it.
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_wal_size": "128MB",
    "min_wal_size": "16MB",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Of `make run`: five servers on a laptop, next to a browser. Less memory, and of the processes that
# only wait the one by which accounts can move between the shards, as in the how-to. The first
# change of a page after a checkpoint logs the whole page, which is most of the log: so it is
# compressed, and checkpoints are rare. Tests and benchmarks run without all this, because other
# installations do.
_SMALL = {
    "shared_buffers": "16MB",
    "wal_level": "logical",
    "max_slot_wal_keep_size": "1GB",
    "max_worker_processes": "5",
    "max_parallel_workers": "0",
    "max_logical_replication_workers": "4",
    "autovacuum_max_workers": "1",
    # PostgreSQL's own method: servers of wheels have no other.
    "wal_compression": "pglz",
    "checkpoint_timeout": "15min",
    "max_wal_size": "512MB",
}
# PostgreSQL 18 would start three more processes per server for input and output.
_SMALL_SINCE_18 = {"io_method": "sync"}
# For data of tests: a power cut may destroy it. Commits still wait for the write, so a killed
# server loses no commit.
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}


class PostgresServer(Server):
    """`number` selects the port: 0 is `default`. `settings` are added to those of every server."""

    # Ends the server and its children at once; PostgreSQL recovers from its log at the next start.
    death_signal = SIGQUIT

    def __init__(
        self,
        name: str,
        number: int,
        binary: Binary,
        folders: ServiceFolders,
        user: ServerUser,
        durable: bool,
        settings: Mapping[str, str],
    ) -> None:
        folder = folders.home / "postgres"
        super().__init__(name, folder / f"{name}.lock", folders.logs / f"{name}.log", user)
        self.stop_signal = SIGINT if durable else SIGQUIT
        self.data = folder / name
        self._port = FIRST_PORT + number
        self.binary = binary
        self.folders = folders
        small = _SMALL | (_SMALL_SINCE_18 if binary.major >= 18 else {})
        self.settings = {**_SETTINGS, **(small if durable else _NOT_DURABLE), **settings}

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}@/{OWNER}?host={self.folders.sockets}&port={self._port}"

    def command(self) -> list[str]:
        settings = {
            "port": str(self._port),
            "unix_socket_directories": str(self.folders.sockets),
            "cluster_name": f"tideline {self.name}",
            **self.settings,
        }
        options = [text for key, value in settings.items() for text in ("-c", f"{key}={value}")]
        return [str(self.binary.program), "-D", str(self.data), *options]

    def remove_leftovers(self) -> None:
        """Lock files contain process ids, which may belong to another program after a crash."""
        socket = self.folders.sockets / f".s.PGSQL.{self._port}"
        for left in (self._status, socket, Path(f"{socket}.lock")):
            left.unlink(missing_ok=True)

    def is_ready(self) -> bool:
        """Reads postmaster.pid, as pg_ctl does; this needs no connection."""
        try:
            lines = self._status.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    @property
    def _status(self) -> Path:
        return self.data / "postmaster.pid"
