"""A PostgreSQL server of a laptop's size: one per database, on a unix socket only."""

from pathlib import Path
from signal import SIGINT, SIGQUIT

from config.services.binary import Binary
from config.services.cluster import OWNER
from config.services.folders import ServiceFolders
from config.services.server import Server
from config.services.server_user import ServerUser

FIRST_PORT = 5432  # a part of the socket's name; no TCP port is opened
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "80",
    "shared_buffers": "16MB",
    "max_wal_size": "128MB",
    "min_wal_size": "16MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_worker_processes": "0",
    "max_parallel_workers": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "1",
    "jit": "off",
    "huge_pages": "off",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# For data that is thrown away: a power cut may cost all of it. Commits still wait for the write,
# so that a killed server loses nothing, as with durable data.
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
# What a server needs that a replica follows, and a replica as well. The log it keeps is what a
# replica that was away for a while goes on from.
_REPLICATED = {
    "wal_level": "replica",
    "max_wal_senders": "4",
    "wal_keep_size": "64MB",
    "wal_retrieve_retry_interval": "200ms",
}
# From 18 on three processes a server would do the reading and writing ahead.
_SINCE_18 = {"io_method": "sync"}


class PostgresServer(Server):
    """`number` is its place among the servers of one folder: 0 is `default`."""

    death_signal = SIGQUIT  # at once, and its children with it; the log makes it whole again

    def __init__(
        self,
        name: str,
        number: int,
        binary: Binary,
        folders: ServiceFolders,
        user: ServerUser,
        durable: bool,
        is_replicated: bool = False,
    ) -> None:
        folder = folders.home / "postgres"
        super().__init__(name, folder / f"{name}.lock", folders.logs / f"{name}.log", user)
        self.stop_signal = SIGINT if durable else SIGQUIT
        self.data = folder / name
        self._port = FIRST_PORT + number
        self.binary = binary
        self._sockets = folders.sockets
        self._durable = durable
        self._is_replicated = is_replicated

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}@/{OWNER}?host={self._sockets}&port={self._port}"

    def command(self) -> list[str]:
        settings = {
            "port": str(self._port),
            "unix_socket_directories": str(self._sockets),
            "cluster_name": f"tideline {self.name}",
            **_SETTINGS,
            **(_REPLICATED if self._is_replicated else {}),
            **({} if self._durable else _NOT_DURABLE),
            **(_SINCE_18 if self.binary.major >= 18 else {}),
        }
        options = [text for key, value in settings.items() for text in ("-c", f"{key}={value}")]
        return [str(self.binary.program), "-D", str(self.data), *options]

    def remove_leftovers(self) -> None:
        """Lock files name process ids, which after a crash may belong to anybody."""
        socket = self._sockets / f".s.PGSQL.{self._port}"
        for left in (self._status, socket, Path(f"{socket}.lock")):
            left.unlink(missing_ok=True)

    def is_ready(self) -> bool:
        """By the last line of postmaster.pid, as pg_ctl does: no connection is needed."""
        try:
            lines = self._status.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    @property
    def _status(self) -> Path:
        return self.data / "postmaster.pid"
