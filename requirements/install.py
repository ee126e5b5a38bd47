"""Makes .venv equal to a requirement file with hashes; make runs it with the machine's Python.

    python3 requirements/install.py app|dev
    python3 requirements/install.py peers       .venv-peers, for one of the benchmarks
    python3 requirements/install.py conformance .venv-conformance, for the tests of clients

Only the standard library, and syntax that an older Python can parse to print a message.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_VENVS = ("peers", "conformance")
VENV = HERE.parent / (f".venv-{sys.argv[1]}" if set(sys.argv[1:]) & {*OWN_VENVS} else ".venv")
PYTHON = VENV / "bin" / "python"
OLDEST_PYTHON = (3, 11)
TICK_S = 2

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


def main() -> None:
    if sys.argv[1:] not in [[level] for level in ("app", "dev", *OWN_VENVS)]:
        sys.exit(
            "usage: python3 requirements/install.py app|dev|peers|conformance"
        )  # nothing is touched
    refuse_unusable_python()
    if VENV.is_symlink():
        say(f"  {VENV.name} is a link to another environment, which stays as it is")
        return
    with one_at_a_time():
        level = level_to_install(sys.argv[1])
        if read(stamp_file(level)) != lock_stamp(level):
            install(level)


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


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two runs of make at once: the second waits, then finds the work done."""
    folder = os.open(HERE, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def level_to_install(wanted: str) -> str:
    """An environment with the dev tools keeps them, so `make run` does not undo `make test`."""
    return "dev" if stamp_file("dev").exists() else wanted


def stamp_file(what: str) -> Path:
    return VENV / f"installed-{what}"


def venv_stamp() -> str:
    """Changes with the interpreter, the folder (its scripts contain the path) and uv."""
    return "\n".join([sys.version, sys.prefix, str(VENV), digest("uv")])


def lock_stamp(level: str) -> str:
    return venv_stamp() + "\n" + digest(level)


def digest(lock: str) -> str:
    return hashlib.sha256((HERE / f"{lock}.txt").read_bytes()).hexdigest()


def read(file: Path) -> str | None:
    try:
        return file.read_text()
    except OSError:
        return None


def install(level: str) -> None:
    """Installs uv with pip, then all packages with uv."""
    # A running Tideline may use this environment, so only a wrong one is created again.
    if read(stamp_file("venv")) != venv_stamp():
        make_venv()
    stamp_file(level).unlink(missing_ok=True)
    sync = [str(VENV / "bin" / "uv"), "pip", "sync", "--quiet", "--require-hashes"]
    lock = HERE / f"{level}.txt"
    run(f"installing {lock.name}", [*sync, "--python", str(PYTHON), str(lock)], uv_environment())
    stamp_file(level).write_text(lock_stamp(level))


def make_venv() -> None:
    run(f"making {VENV.name}", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run("installing uv.txt", [*pip, "install", "--require-hashes", "-r", str(HERE / "uv.txt")])
    stamp_file("venv").write_text(venv_stamp())


def run(what: str, command: list[str], env: dict[str, str] | None = None) -> None:
    """Runs one step and prints its time every two seconds. Exits when the step fails."""
    say(f"  {what}")
    began = time.monotonic()
    process = subprocess.Popen(command, env=env)
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


def uv_environment() -> dict[str, str]:
    """This environment plus the configuration of pip; variables of uv that are set win."""
    env = dict(os.environ)
    settings = pip_settings()
    for option, name in UV_NAMES.items():
        if settings.get(option):
            separator = "," if name in COMMA_SEPARATED else " "
            env.setdefault(name, separator.join(str(settings[option]).split()))
    # Like pip: the best version of all indexes. The hashes decide which files are accepted.
    env.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    if not os.access(Path.home(), os.W_OK):
        env.setdefault("UV_CACHE_DIR", str(VENV / "uv-cache"))
    return env


def pip_settings() -> dict[str, object]:
    """pip's configuration by option; environment before files, install before global."""
    pip = [str(PYTHON), "-m", "pip", "config", "list"]
    listed = subprocess.check_output(pip, text=True).splitlines()
    found = {}
    for section in ("global.", "install.", ":env:."):
        for line in listed:
            name, _, value = line.partition("=")
            if name.startswith(section):
                found[name[len(section) :]] = ast.literal_eval(value)
    return found


if __name__ == "__main__":
    main()
