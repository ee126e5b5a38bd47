"""One etcd server. Patroni keeps in it which PostgreSQL server is the primary, and until when."""

import shutil
from pathlib import Path
from signal import SIGKILL, SIGTERM

from infra.processes.free_ports import free_ports
from lab.runner.port import HOST, is_answering
from lab.services import Server
from lab.services.folders import ServiceFolders
from lab.services.server_user import ServerUser


class EtcdServer(Server):
    """It forgets everything when it is started again."""

    stop_signal = SIGTERM
    death_signal = SIGKILL

    def __init__(self, program: Path, folders: ServiceFolders, user: ServerUser) -> None:
        super().__init__("etcd", folders.home / "etcd.lock", folders.logs / "etcd.log", user)
        self._program = program
        self._data = folders.home / "etcd"
        self.port, self._peer_port = free_ports(2)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def command(self) -> list[str]:
        peer = f"http://{HOST}:{self._peer_port}"
        settings = {
            "data-dir": str(self._data),
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "log-level": "warn",
        }
        return [str(self._program), *(f"--{name}={value}" for name, value in settings.items())]

    def remove_leftovers(self) -> None:
        shutil.rmtree(self._data, ignore_errors=True)

    def is_ready(self) -> bool:
        return is_answering(self.port, "/health")
