"""Data folders with migrated databases: made once for all processes of a session, then copied.

Copying five data folders costs a fraction of running all migrations on five databases.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from signal import SIGINT

from lab.runner.installation import throw_away_installation
from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.folders import prepare_folders
from lab.services.locks import locked
from lab.services.server_user import server_user
from lab.services.throw_away import PREFIX

# Another process waits this long for the migrations.
_PATIENCE_S = 600


def provide_migrated_data(data: Path) -> None:
    """Gives the servers of `data` the tables of Tideline: default and four shards.

    Safety: several processes of a session may call it at once.
    """
    session = os.environ.get("RUNTIME_DIR")
    if session is None:
        _make(data)
        return
    template = _template(session)
    with locked(Path(session, "migrated.lock"), _PATIENCE_S):
        if not (template / "is_complete").exists():
            _make(template)
            (template / "is_complete").touch()
        os.utime(template)  # so that it is not taken for an abandoned one
    source, target = (prepare_folders(one, server_user()).home for one in (template, data))
    # "binaries" are programs that were copied because the servers' user could not reach them.
    folders = [str(source / name) for name in ("postgres", "binaries") if (source / name).exists()]
    subprocess.run(["/bin/cp", "-Rp", *folders, str(target)], check=True)


def delete_migrated_data(session: str) -> None:
    """Deletes what the calls of a session share. `session`: its RUNTIME_DIR."""
    delete_data(_template(session))


def _template(session: str) -> Path:
    return Path(tempfile.gettempdir(), f"{PREFIX}migrated-{Path(session).name}")


def _make(data: Path) -> None:
    environ = {"PATH": os.environ.get("PATH", "")}
    with running_services(data, environ=environ, durable=False) as services:
        throw_away_installation(services, {}).manage("migrate_shards", "--verbosity", "0")
        for server in services.servers:
            server.stop_signal = SIGINT  # with a checkpoint: copies start without a recovery
