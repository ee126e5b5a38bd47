"""PgBouncer for tests: PGBOUNCER, the machine's own, or Debian's that apt downloads and checks.

Debian 12 has one that is too old, so a newer Debian's runs with the libraries of that Debian.
Nothing is installed: packages are unpacked in a folder of the checkout.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIGQUIT

import psycopg

from lab.runner.port import free_port
from lab.services import RunningServices
from lab.services.folders import private_folder
from lab.services.locks import locked
from lab.services.postgres import PostgresServer
from lab.services.server_user import ServerUser, can_reach, server_user
from lab.services.spawn import log_tail, server_environment, spawn
from tests.distribution import CACHE, LONGEST_S
from tests.waiting import until

REASON = "no PgBouncer 1.22 or newer: install it, or name one with PGBOUNCER=/path/to/it"
ROLE = "tideline_web"
# Of the archive that this machine has its own Debian from.
ARCHIVE = re.compile(r"^(\S+/debian/?) [a-z]+ main$", re.MULTILINE)
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} trixie main\n"
PACKAGES = [
    "pgbouncer", "libc6", "libevent-2.1-7t64", "libcares2", "libssl3t64", "libpam0g", "libaudit1",
    "libcap-ng0", "libsystemd0", "libcap2", "zlib1g", "libzstd1",
]  # fmt: skip
CONFIGURATION = """
[databases]
{databases}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
admin_users = {role}
pool_mode = {mode}
max_client_conn = 1000
default_pool_size = {size}
max_prepared_statements = {names}
server_login_retry = 1
logfile = {folder}/log
"""
# As docs/how-to/use-a-pooler.md has them.
GRANTS = f"""
DO $$ BEGIN
    IF to_regrole('{ROLE}') IS NULL THEN CREATE ROLE {ROLE} LOGIN; END IF;
END $$;
GRANT tideline TO {ROLE};
GRANT pg_read_all_stats TO {ROLE};
ALTER ROLE {ROLE} SET jit = off;
ALTER ROLE {ROLE} SET statement_timeout = '1s';
ALTER ROLE {ROLE} SET timezone = 'UTC'
"""


def find_pgbouncer() -> list[str] | None:
    """The words that start it. None: this machine has none, and apt does not bring one."""
    own = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin")
    for command in ([own] if own else [], _unpacked()):
        if command and _version(command) >= (1, 22):
            return command
    return None


@contextmanager
def running_pgbouncer(
    command: Sequence[str],
    services: RunningServices,
    size: int = 10,
    mode: str = "transaction",
    names: int = 200,
) -> Iterator[dict[str, str]]:
    """In front of all databases; gives the variables for a web server. `size`: of each pool."""
    user, port = server_user(), free_port()
    for server in services.postgres.values():
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(GRANTS)
    with tempfile.TemporaryDirectory(prefix="tideline-pgbouncer-") as name:
        os.chmod(name, 0o711)
        folder = private_folder(Path(name) / "own", user)
        (folder / "users").write_text(f'"{ROLE}" ""\n')
        databases = "".join(_line(alias, one) for alias, one in services.postgres.items())
        text = CONFIGURATION.format(
            databases=databases, port=port, folder=folder, role=ROLE, size=size, mode=mode,
            names=names,
        )  # fmt: skip
        (folder / "ini").write_text(text)
        log = Path(name) / "output"
        words = [*_reachable(command, user, Path(name)), str(folder / "ini")]
        process = spawn(words, log, env=server_environment(), user=user)
        try:
            url = f"postgresql://{ROLE}@127.0.0.1:{port}"
            until(lambda: _answers(f"{url}/pgbouncer"), said=lambda: log_tail(log))
            default, *shards = [f"{url}/{alias}" for alias in services.postgres]
            yield {"POOLED_DATABASE_URL": default, "POOLED_SHARD_DATABASE_URLS": ",".join(shards)}
        finally:
            process.send_signal(SIGQUIT)
            process.wait()


def ask_pgbouncer(environment: dict[str, str], command: str) -> list[tuple[object, ...]]:
    """What its console answers: `SHOW POOLS`, `RECONNECT`."""
    url = environment["POOLED_DATABASE_URL"].rpartition("/")[0] + "/pgbouncer"
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        cursor = connection.execute(command)
        return cursor.fetchall() if cursor.description else []


def _reachable(command: Sequence[str], user: ServerUser, folder: Path) -> list[str]:
    """Root's checkout may be where the user of servers cannot read."""
    if can_reach(user, [Path(command[0])]):
        return [*command]
    shutil.copytree(CACHE / "pgbouncer/usr", folder / "usr")
    return [word.replace(str(CACHE / "pgbouncer"), str(folder)) for word in command]


def _line(alias: str, server: PostgresServer) -> str:
    where = psycopg.conninfo.conninfo_to_dict(server.url)
    return f"{alias} = host={where['host']} port={where['port']} dbname={where['dbname']}\n"


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, autocommit=True).close()
    except psycopg.OperationalError:
        return False
    return True


def _version(command: Sequence[str]) -> tuple[int, int]:
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError:
        return 0, 0
    found = re.search(r"PgBouncer (\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _unpacked() -> list[str]:
    """The loader of the newer Debian with its libraries, and the program."""
    folder = CACHE / "pgbouncer"
    if shutil.which("apt-get") and shutil.which("dpkg"):
        CACHE.mkdir(exist_ok=True)
        with locked(CACHE / "lock", LONGEST_S):
            if not folder.exists():
                _unpack(folder)
    program = folder / "usr/sbin/pgbouncer"
    loaders = [one for one in folder.glob("usr/lib/*/ld-linux*") if one.is_file()]
    if not (program.exists() and loaders):
        return []
    return [str(loaders[0]), "--library-path", str(loaders[0].parent), str(program)]


def _unpack(target: Path) -> None:
    """The folder gets its name when it is complete. apt checks the signatures."""
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
    archive = ARCHIVE.search(subprocess.run(asked, capture_output=True, text=True).stdout)
    if archive is None:
        return
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        for part in ("lists/partial", "cache/archives/partial", "debs"):
            (folder / part).mkdir(parents=True)
        (folder / "sources").write_text(SOURCE.format(archive[1]))
        options = {
            "Dir::Etc::sourcelist": folder / "sources",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": folder / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": folder / "cache",
        }
        apt = [
            "apt-get",
            *(word for key, value in options.items() for word in ("-o", f"{key}={value}")),
        ]
        subprocess.run([*apt, "update"], capture_output=True)
        subprocess.run([*apt, "download", *PACKAGES], cwd=folder / "debs", capture_output=True)
        archives = [*(folder / "debs").glob("*.deb")]
        for archive in archives:
            subprocess.run(["dpkg", "-x", archive, folder / "unpacked"], check=True)
        if len(archives) == len(PACKAGES):
            (folder / "unpacked").rename(target)
