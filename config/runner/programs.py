"""The processes `make run` starts, in the order they are stopped, and their environment."""

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

from config.runner.child import Child
from config.runner.port import HOST

# Threads of one process take turns at Python: on two cores two workers serve twice as many pages.
_MOST_WEB_WORKERS = 4
_WEB_THREADS = 4
_WORKER_THREADS = 4
# Who presses Ctrl-C waits for it; browsers have asked again within it.
_LINGER_S = 0.3
_FINISH_S = 2
_COMPENSATE_EVERY_S = 2


def app_environment(urls: Mapping[str, str], key: str, port: int) -> dict[str, str]:
    """What the settings read on a laptop; what the person has set wins."""
    return {**_laptop(key, port), **os.environ, **urls}


def _laptop(key: str, port: int) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEVELOPMENT": "1",
        "ALLOW_PASSWORD_GRANT": "1",
        "SECRET_KEY": key,
        "PUBLIC_URL": f"http://localhost:{port}",
        "PYTHONUNBUFFERED": "1",
    }


def write_environment(file: Path, urls: Mapping[str, str], key: str, port: int) -> None:
    """The same for a shell to read, so that `manage.py` reaches what runs.

    Only its owner can read the file: it holds the secret key.
    """
    environment = app_environment(urls, key, port)
    names = sorted({*_laptop(key, port), *urls})
    lines = [f"export {name}={shlex.quote(environment[name])}\n" for name in names]
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as output:
        output.writelines(lines)


def list_children(logs: Path, environment: Mapping[str, str], port: int) -> list[Child]:
    """Web, worker, compensator."""

    def child(name: str, command: list[str], death_signal: Signals = SIGKILL) -> Child:
        argv = [sys.executable, *command]
        return Child(name, argv, logs / f"{name}.log", environment, death_signal)

    every = str(_COMPENSATE_EVERY_S)
    return [
        child("web", web_command(port, _LINGER_S), SIGTERM),
        child("worker", worker_command()),
        child("compensator", ["manage.py", "compensate_changes", "--every", every]),
    ]


def web_workers() -> int:
    """One for each core, a few at most."""
    return min(os.cpu_count() or 1, _MOST_WEB_WORKERS)


def web_command(port: int, linger_s: float) -> list[str]:
    """As arguments of Python. `linger_s`: how long it serves on once it is asked to end."""
    bind = ["--host", HOST, "--port", str(port)]
    threads = ["--workers", str(web_workers()), "--threads", str(_WEB_THREADS)]
    life = ["--linger", str(linger_s), "--finish", str(_FINISH_S)]
    return ["-m", "config.web", *bind, *threads, *life]


def worker_command() -> list[str]:
    # One worker needs no news of others.
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    threads = ["--pool", "threads", "--concurrency", str(_WORKER_THREADS)]
    return ["-m", "celery", "-A", "config", "worker", *threads, *alone, "--loglevel", "WARNING"]
