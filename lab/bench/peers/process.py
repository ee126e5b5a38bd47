"""Starts a contender in its own environment and calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
from django.conf import settings

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".venv-peers" / "bin" / "python"


def install() -> None:
    """Makes .venv-peers equal to the group `peers` of uv.lock."""
    subprocess.run([sys.executable, "deploy/install.py", "peers"], cwd=ROOT, check=True)


class Peer:
    """Calls go by name: `peer.call("page", 7, 20)`. Raises RuntimeError if the process ended."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def call(self, name: str, *arguments: Any) -> Any:
        if not self._process.stdin or not self._process.stdout:
            raise RuntimeError("no pipes")
        self._process.stdin.write(json.dumps({"call": name, "with": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer ended in {name}")
        return json.loads(line)


@contextmanager
def peer(name: str, database: str) -> Iterator[Peer]:
    """One contender with its own database."""
    command = [str(PYTHON), "-m", "lab.bench.peers.contenders", name]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=_environment(database),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Peer(process)
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait()


def make_database(name: str, like: str = "template1") -> None:
    """Creates a database on the server of Tideline's default one, which pages do not use."""
    where = settings.DATABASES["default"]
    place = {"host": where["HOST"], "user": where["USER"], "dbname": where["NAME"]}
    with psycopg.connect(**place, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')  # type: ignore[arg-type]


def _environment(database: str) -> dict[str, str]:
    """Our environment without Tideline's packages and settings."""
    where = settings.DATABASES["default"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    redis = urlsplit(settings.REDIS_URL)
    if redis.scheme != "unix" or "db" not in parse_qs(redis.query):
        raise ValueError(settings.REDIS_URL)
    return kept | {
        "DJANGO_SETTINGS_MODULE": "lab.bench.peers.contenders.settings",
        "PEER_DATABASE": database,
        "PEER_HOST": str(where["HOST"]),
        "PEER_USER": str(where["USER"]),
        "PEER_REDIS_SOCKET": redis.path,
        "PEER_FEED_LENGTH": str(settings.TIMELINE_ENTRIES),
    }
