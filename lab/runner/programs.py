"""The processes that `make run` starts, and their environment."""

import hashlib
import json
import os
import secrets
import shlex
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST

# Only one thread of a process runs Python at a time, so there is one web process for each core.
_MAX_WEB_WORKERS = 4
_WEB_THREADS = 4
# The person who presses Ctrl-C waits this long; it is enough for a browser's open requests.
_LINGER_S = 0.3
_FINISH_S = 2
_COMPENSATE_EVERY_S = 2
_KEY_BYTES = 64


def make_children(logs: Path, environment: Mapping[str, str], port: int) -> dict[str, Child]:
    """Web, worker and compensator."""

    def child(name: str, command: list[str], death_signal: Signals = SIGKILL) -> Child:
        argv = [sys.executable, *command]
        return Child(name, argv, logs / f"{name}.log", environment, death_signal)

    children = [
        child("web", web_command(port, _LINGER_S), SIGTERM),
        child("worker", worker_command()),
        child("compensator", compensator_command()),
    ]
    return {child.name: child for child in children}


def web_workers() -> int:
    """The number of web processes: one for each core, four at most."""
    return min(os.cpu_count() or 1, _MAX_WEB_WORKERS)


def web_command(port: int, linger_s: float) -> list[str]:
    """Arguments of Python. `linger_s`: for how long the server still serves after SIGTERM."""
    bind = ["--host", HOST, "--port", str(port)]
    threads = ["--workers", str(web_workers()), "--threads", str(_WEB_THREADS)]
    stop = ["--linger", str(linger_s), "--finish", str(_FINISH_S)]
    return ["-m", "web", *bind, *threads, *stop, "--when-ready"]


def streaming_child(logs: Path, environment: Mapping[str, str], port: int) -> Child:
    """The streaming process of `make run`."""
    stop = ["--linger", str(_LINGER_S)]
    command = ["-m", "web.streaming", "--host", HOST, "--port", str(port), *stop, "--when-ready"]
    argv = [sys.executable, *command]
    return Child("streaming", argv, logs / "streaming.log", environment, SIGTERM)


def front_child(logs: Path, environment: Mapping[str, str], ports: Sequence[int]) -> Child:
    """The address of `make run`, before web server and streaming process, whose ports follow it."""
    port, web, streaming = ports
    behind = ["--web", f"{HOST}:{web}", "--streaming", f"{HOST}:{streaming}"]
    argv = [sys.executable, "-m", "web.front", "--host", HOST, "--port", str(port), *behind]
    return Child("front", argv, logs / "front.log", environment, SIGTERM)


def worker_command() -> list[str]:
    """Arguments of Python."""
    return ["manage.py", "run_drainer"]


def compensator_command() -> list[str]:
    """Arguments of Python."""
    return ["manage.py", "compensate_changes", "--every", str(_COMPENSATE_EVERY_S)]


def app_environment(urls: Mapping[str, str], key: str, port: int) -> dict[str, str]:
    """The environment of all processes. Variables that are set already win, except the URLs."""
    return {**_defaults(key, port), **os.environ, **urls}


def write_manage(file: Path, urls: Mapping[str, str], key: str, port: int) -> None:
    """Writes `manage.py` with the environment of the running servers, as a program.

    A file to source would change the shell of the caller, and then another project's `manage.py`
    would use Tideline's settings and databases. Only the owner can read it: it contains the secret
    key.
    """
    environment = app_environment(urls, key, port)
    names = sorted({*_defaults(key, port), *urls})
    lines = [f"export {name}={shlex.quote(environment[name])}" for name in names]
    command = shlex.join([sys.executable, str(CHECKOUT / "manage.py")])
    file.unlink(missing_ok=True)
    _write_private(file, "\n".join(["#!/bin/sh", *lines, f'exec {command} "$@"', ""]), 0o700)


def secret_key(folder: Path) -> str:
    """The SECRET_KEY of this installation. The first call creates it in `folder`/secret_key.

    Safety: idempotent; a crash leaves no incomplete key. Only the owner can read the file.
    """
    file = folder / "secret_key"
    if not file.exists():
        unfinished = file.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        _write_private(unfinished, secrets.token_urlsafe(_KEY_BYTES))
        unfinished.rename(file)
    return file.read_text()


def vapid_key(key: str) -> str:
    """The VAPID_PRIVATE_KEY of this installation, made from its secret key."""
    digest = hashlib.sha256(b"vapid" + key.encode()).digest()
    return urlsafe_b64encode(digest).decode()


def other_constants(**constants: int) -> dict[str, str]:
    """The environment of a process in which these names of `config/constants.py` differ."""
    return {"DJANGO_SETTINGS_MODULE": "lab.constants", "CONSTANTS": json.dumps(constants)}


def _defaults(key: str, port: int) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEVELOPMENT": "1",
        "SECRET_KEY": key,
        "VAPID_PRIVATE_KEY": vapid_key(key),
        "PUBLIC_URL": f"http://localhost:{port}",
        "PYTHONUNBUFFERED": "1",
    }


def _write_private(file: Path, text: str, mode: int = 0o600) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "w") as output:
        output.write(text)
