"""Processes of the product that are killed: no user is forgotten, and none has two accounts.

The processes are real and get SIGKILL. The database is a file.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from provisioning_double import ProvisioningDouble

# For what hangs, on a crowded machine.
PATIENCE_S = 300
HERE = Path(__file__).parent
SAVE = """
import os, signal
from django.contrib.auth.models import User
from django.db import transaction
with transaction.atomic():
    User.objects.create_user("ann")
    {inside}
{after}
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
COUNTS = """
    SELECT (SELECT count(*) FROM auth_user), count(*), count(due_at) FROM tideline_accountsync
"""
A_MINUTE_LATER = "UPDATE tideline_accountsync SET due_at = datetime(due_at, '-1 minute')"


class Product:
    """A product in processes of its own. `kill_at`: what the next request does to the sender."""

    def __init__(self, folder: Path, url: str, database: bytes) -> None:
        self.database = folder / "db.sqlite3"
        self.database.write_bytes(database)
        setting = {"URL": url, "TOKEN": "token"}
        (folder / "killed_settings.py").write_text(
            f"from product.settings import *\nTIDELINE = {setting!r}\n"
        )
        path = os.pathsep.join([str(folder), str(HERE), str(HERE.parent / "src")])
        self.environment = os.environ | {
            "PRODUCT_DATABASE": str(self.database),
            "PYTHONPATH": path,
            "DJANGO_SETTINGS_MODULE": "killed_settings",
        }

    def start(self, *words: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "django", *words]
        return subprocess.Popen(
            argv, env=self.environment, stdout=-1, stderr=subprocess.STDOUT, text=True
        )

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*words)
        said, _ = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(words, process.returncode, said)

    def shell(self, code: str) -> "subprocess.CompletedProcess[str]":
        return self.run("shell", "--no-imports", "-c", code)

    def counts(self) -> list[int]:
        """Users, rows, and rows that are due."""
        with closing(sqlite3.connect(self.database)) as database:
            return [*database.execute(COUNTS).fetchone()]

    def wait_a_minute(self) -> None:
        with closing(sqlite3.connect(self.database)) as database, database:
            database.execute(A_MINUTE_LATER)


class Site:
    """Provisioning over HTTP. `victim`: killed when its request has been carried out."""

    def __init__(self) -> None:
        self.provisioning = ProvisioningDouble()
        self.victim: subprocess.Popen[str] | None = None
        self.is_deaf = False
        self.url = ""


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = httpx.Request(self.command, f"{served.url}{self.path}", content=body)
            answer = None if served.is_deaf else served.provisioning(request)
            if served.victim is not None:
                served.victim.send_signal(signal.SIGKILL)
                served.victim.wait()
                served.victim = None
                return
            assert answer is not None
            content = json.dumps(answer.json()).encode()
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_DELETE(self) -> None:
            self.do_PUT()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield served
    server.shutdown()
    server.server_close()


@pytest.fixture
def product(tmp_path: Path, site: Site, db: None) -> Product:
    """With the tables of this process, as a file."""
    connection.ensure_connection()
    return Product(tmp_path, site.url, connection.connection.serialize())


def test_a_kill_before_the_commit_leaves_nothing(product, site):
    killed = product.shell(SAVE.format(inside=KILL, after=""))
    assert killed.returncode == -signal.SIGKILL
    assert product.counts() == [0, 0, 0]
    assert product.run("sync_tideline").stdout == "0 sent, 0 refused\n"
    assert site.provisioning.accounts == {}


def test_a_kill_between_the_commit_and_the_sending_loses_nothing(product, site):
    killed = product.shell(SAVE.format(inside="", after=KILL))
    assert killed.returncode == -signal.SIGKILL
    assert product.counts() == [1, 1, 1]
    assert product.run("sync_tideline").stdout == "1 sent, 0 refused\n"
    assert [each["username"] for each in site.provisioning.accounts.values()] == ["ann"]
    assert product.counts() == [1, 1, 0]


@pytest.mark.parametrize("is_deaf", [True, False])
def test_a_kill_between_the_sending_and_the_mark_makes_no_second_account(product, site, is_deaf):
    product.shell(SAVE.format(inside="", after="")).check_returncode()
    site.is_deaf = is_deaf  # killed just before, or just after, Tideline has it
    site.victim = victim = product.start("sync_tideline")
    victim.communicate(timeout=PATIENCE_S)
    assert victim.returncode == -signal.SIGKILL
    assert len(site.provisioning.accounts) == (0 if is_deaf else 1)
    before = {**site.provisioning.accounts}
    site.is_deaf = False
    assert product.counts() == [1, 1, 1]
    assert product.run("sync_tideline").stdout == "0 sent, 0 refused\n", "another run may have it"
    product.wait_a_minute()
    assert product.run("sync_tideline").stdout == "1 sent, 0 refused\n"
    assert len(site.provisioning.accounts) == 1
    assert before.items() <= site.provisioning.accounts.items()
    assert product.counts() == [1, 1, 0]


DELETE = """
import os, signal
from django.contrib.auth.models import User
from django.db import transaction
with transaction.atomic():
    User.objects.get().delete()
    {inside}
{after}
"""


def deletes(product, site, **kills):
    """Runs `DELETE` on a user whom Tideline has."""
    product.shell(SAVE.format(inside="", after="")).check_returncode()
    assert product.run("sync_tideline").stdout == "1 sent, 0 refused\n"
    killed = product.shell(DELETE.format(**{"inside": "", "after": "", **kills}))
    assert killed.returncode == (-signal.SIGKILL if kills else 0)
    return next(iter(site.provisioning.accounts.values()))


def test_a_kill_before_the_commit_of_a_deletion_deletes_nothing(product, site):
    account = deletes(product, site, inside=KILL)
    assert product.run("sync_tideline").stdout == "0 sent, 0 refused\n"
    assert not account["deleted"]


def test_a_kill_between_the_deletion_and_the_call_loses_no_deletion(product, site):
    account = deletes(product, site, after=KILL)
    assert product.counts() == [0, 1, 1]
    assert product.run("sync_tideline").stdout == "1 sent, 0 refused\n"
    assert account["deleted"]


def test_a_kill_after_the_call_deletes_once_more(product, site):
    account = deletes(product, site)
    site.victim = victim = product.start("sync_tideline")
    victim.communicate(timeout=PATIENCE_S)
    assert account["deleted"]
    product.wait_a_minute()
    assert product.run("sync_tideline").stdout == "1 sent, 0 refused\n"
    assert product.counts() == [0, 1, 0]


def test_a_follower_stops_when_it_is_told(product, site):
    follower = product.start("sync_tideline", "--follow")
    product.shell(SAVE.format(inside="", after="")).check_returncode()
    while product.counts() != [1, 1, 0]:
        assert follower.poll() is None
        time.sleep(0.05)
    follower.terminate()
    follower.communicate(timeout=PATIENCE_S)
    assert follower.returncode == 0
    assert len(site.provisioning.accounts) == 1
