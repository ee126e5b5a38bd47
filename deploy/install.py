"""Installs packages of uv.lock into .venv; make runs it with the machine's Python.

    python3 deploy/install.py app [cassandra] [s3] [telemetry]
                                                       what production needs, with extras
    python3 deploy/install.py run|dev                  for `make run`; for tests and checks
    python3 deploy/install.py peers|conformance|patroni
                                                       only this group, in .venv-NAME

Packages come from the index of pip's configuration (decision 0031). Only the standard library, and
syntax that an older Python can parse to print a message.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LOCK = CHECKOUT / "uv.lock"
OLDEST_PYTHON = (3, 11)
TICK_S = 2

# What can be asked for, and how uv calls it. The last three have an environment of their own.
PARTS = {
    "app": (),
    "run": ("--extra", "run"),
    "cassandra": ("--extra", "cassandra"),
    "s3": ("--extra", "s3"),
    "telemetry": ("--extra", "telemetry"),
    "dev": ("--group", "dev"),
    "peers": ("--only-group", "peers"),
    "conformance": ("--only-group", "conformance"),
    "patroni": ("--only-group", "patroni"),
}
ALONE = ("peers", "conformance", "patroni")

# Options of pip's configuration and the variables of uv with the same meaning: uv does not read
# pip's configuration.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
}
COMMA_SEPARATED = ("UV_FIND_LINKS",)


def main(asked: list[str]) -> None:
    if not asked or not {*asked} <= {*PARTS} or (len(asked) > 1 and {*asked} & {*ALONE}):
        sys.exit(__doc__)  # nothing is touched
    refuse_unusable_python()
    if "app" in asked and os.geteuid() == 0:
        refuse_private_python(Path(sys.executable))
        os.umask(0o022)  # the user of the service reads what root installs
    venv = CHECKOUT / (f".venv-{asked[0]}" if asked[0] in ALONE else ".venv")
    if venv.is_symlink():
        say(f"  {venv.name} is a link to another environment, which stays as it is")
        return
    with one_at_a_time():
        add(venv, asked)


def refuse_unusable_python() -> None:
    """Exits with a message when this Python is too old or cannot create environments."""
    if sys.version_info < OLDEST_PYTHON:
        version = ".".join(map(str, sys.version_info[:3]))
        sys.exit(
            f"Tideline needs Python 3.11 or newer; {sys.executable} is {version}.\n"
            "Name a newer one: make PYTHON=python3.12 ..."
        )
    try:
        __import__("venv")
        __import__("ensurepip")
    except ImportError as error:
        sys.exit(
            f"{sys.executable} cannot make virtual environments ({error}).\n"
            "On Debian and Ubuntu: apt install python3-venv"
        )


def refuse_private_python(executable: Path) -> None:
    """Exits if only root can run this Python. An environment is links to it, so the user of the
    service could not run Tideline.
    """
    python = executable.resolve()
    private = [folder for folder in python.parents if not folder.stat().st_mode & 0o001]
    if private:
        sys.exit(
            f"Only root can run {python}, because {private[0]} is closed to other users.\n"
            "The user of the service needs to run it too. Name the system's Python:\n"
            "make PYTHON=/usr/bin/python3 app-packages"
        )


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two runs of make at once: the second waits, then finds the work done."""
    folder = os.open(CHECKOUT / "deploy", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def add(venv: Path, asked: list[str]) -> None:
    """Installs these parts and those asked for before, so `make run` keeps the packages of
    `make test`, and an upgrade keeps the extras. Quick if nothing changed."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    # Changes with the interpreter, the folder (its scripts contain the path) and uv.
    made = "\n".join([sys.version, sys.prefix, str(venv), pinned_uv()])
    installed, *before = read(venv / "installed").split() or [""]
    parts = list(dict.fromkeys([*before, *asked]))
    if read(venv / "made") == made and [installed, *before] == [digest, *parts]:
        return
    # A running Tideline may use this environment, so only a wrong one is created again.
    if read(venv / "made") != made:
        make(venv)
        (venv / "made").write_text(made)
    (venv / "installed").write_text(" ".join(["unfinished", *parts]))
    sync(venv, parts)
    (venv / "installed").write_text(" ".join([digest, *parts]))


def make(venv: Path) -> None:
    """An environment with uv, which pip installs by its hash."""
    run(f"making {venv.name}", [sys.executable, "-m", "venv", "--clear", str(venv)])
    pin = venv / "uv.txt"
    pin.write_text(pinned_uv())
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run("installing uv", [*pip, "install", "--require-hashes", "-r", str(pin)])


def sync(venv: Path, parts: list[str]) -> None:
    """Makes the environment equal to these parts of the lock, with their hashes."""
    python, wanted = venv / "bin" / "python", venv / "wanted.txt"
    uv, variables = [str(venv / "bin" / "uv"), "--quiet"], uv_variables(python)
    words = [word for part in parts for word in PARTS[part]]
    # The addresses in the lock are not exported. --frozen: the lock decides.
    export = ["export", "--frozen", "--no-default-groups", "--no-emit-project", *words]
    run("reading uv.lock", [*uv, *export, "--output-file", str(wanted)], variables)
    install = ["pip", "sync", "--require-hashes", "--python", str(python), str(wanted)]
    run(f"installing {' '.join(parts)}", [*uv, *install], variables)


def uv_variables(python: Path) -> dict[str, str]:
    """This environment plus the configuration of pip; variables of uv that are set win."""
    variables = dict(os.environ)
    settings = pip_settings(python)
    for option, name in UV_NAMES.items():
        if settings.get(option):
            separator = "," if name in COMMA_SEPARATED else " "
            variables.setdefault(name, separator.join(str(settings[option]).split()))
    # Like pip: the best version of all indexes. The hashes decide which files are accepted.
    variables.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    if not os.access(Path.home(), os.W_OK):
        variables.setdefault("UV_CACHE_DIR", str(python.parents[1] / "uv-cache"))
    return variables


def pip_settings(python: Path) -> dict[str, object]:
    """pip's configuration by option; environment before files, install before global."""
    listed = subprocess.check_output([str(python), "-m", "pip", "config", "list"], text=True)
    values = {}
    for section in ("global.", "install.", ":env:."):
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(section):
                values[name[len(section) :]] = ast.literal_eval(value)
    return values


def pinned_uv() -> str:
    """The requirement of uv itself, with hashes. By pattern: an older Python has no tomllib."""
    entry = LOCK.read_text().partition('\nname = "uv"\n')[2].partition("[[package]]")[0]
    [version] = re.findall(r'^version = "(.+)"', entry, re.MULTILINE)
    hashes = [f"--hash={digest}" for digest in re.findall(r"sha256:\w+", entry)]
    return " ".join([f"uv=={version}", *hashes])


def read(file: Path) -> str:
    """Nothing if there is no such file."""
    return file.read_text() if file.exists() else ""


def run(what: str, command: list[str], variables: dict[str, str] | None = None) -> None:
    """Runs one step and prints its time every two seconds. Exits when the step fails."""
    say(f"  {what}")
    began = time.monotonic()
    process = subprocess.Popen(command, env=variables)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(TICK_S)
            break
        say(f"  {what}: {time.monotonic() - began:.0f} s")
    if code:
        sys.exit(f"{what} failed with exit code {code}: {' '.join(command)}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
