"""`make run` as a person sees it: one screen, a web that answers, an orderly and a rude end."""

import http.client
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, SIGKILL

import pytest
from websockets.sync.client import connect

from lab.runner.port import HOST, free_port
from lab.services import URL_NAMES
from lab.services.delete_data import delete_data
from lab.services.process_tree import process_tree
from tests.services import are_gone
from tests.waiting import PATIENCE_S, until

CHECKOUT = Path(__file__).parents[3]
NOT_OURS = (*URL_NAMES, "SECRET_KEY", "MEDIA_DIR")
RESTARTED = [
    ("web", "-m web "),
    ("front", "web.front"),
    ("worker", "run_drainer"),
    ("shard1", "tideline shard1"),
]
STREAM = "/api/v1/streaming/user"


class Run:
    """One `python -m lab.run`, seen from outside."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path, port: int) -> None:
        self.process = process
        self.output = output
        self.port = port

    def said(self, pattern: str) -> re.Match[str]:
        def found() -> re.Match[str] | None:
            assert self.process.poll() is None, self.output.read_text()
            return re.search(pattern, self.output.read_text())

        return until(found, said=self.output.read_text)

    def get(self, path: str, token: str | None = None) -> int:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def children(self, words: str) -> list[int]:
        """The processes below the runner that have `words` in their command line."""
        return [pid for pid in process_tree(self.process.pid)[1:] if words in command_line(pid)]

    def is_whole_again(self, words: str, killed: int) -> bool:
        """Whether somebody took the place of the killed one, and all stores are reached."""
        try:
            return bool(set(self.children(words)) - {killed}) and self.get("/health/ready") == 200
        except OSError:
            return False


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except FileNotFoundError:
        return ""


@pytest.fixture
def data(tmp_path) -> Iterator[Path]:
    folder = tmp_path / "data"
    yield folder
    delete_data(folder)


@contextmanager
def started(data: Path) -> Iterator[Run]:
    """A run whose screen is shown."""
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if k not in NOT_OURS}
    environment |= {"PORT": str(port), "DATA_DIR": str(data)}
    output = data.with_suffix(".out")
    with output.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab.run"],
            stdout=stdout,
            stderr=stdout,
            env=environment,
            cwd=CHECKOUT,
        )
    try:
        run = Run(process, output, port)
        run.said("ready to paste")
        yield run
    finally:
        process.kill()
        process.wait()


def test_first_start_and_ctrl_c_then_second_start_and_kill_9(data):
    """One story, because the first start of a fresh folder is dear."""
    (data / "logs").mkdir(parents=True, mode=0o755)
    with started(data) as run:
        token = run.said(r"TOKEN=(\S+)")[1]
        assert run.get("/health/ready") == 200
        assert run.children("run_drainer"), "ready: its worker delivers"
        for closed in ("logs", "media"):
            assert (data / closed).stat().st_mode & 0o777 == 0o700
        for log in (data / "logs").iterdir():
            assert "does not exist" not in log.read_text()
        assert run.get("/api/v1/timelines/home") == 401
        assert run.get("/api/v1/timelines/home", token) == 200
        assert (run.get(STREAM), run.get(STREAM, token)) == (401, 200)
        with connect(f"ws://{HOST}:{run.port}/api/v1/streaming?access_token={token}") as stream:
            stream.send('{"type": "subscribe", "stream": "nothing"}')
            assert "error" in str(stream.recv(timeout=PATIENCE_S))
        everyone = process_tree(run.process.pid)
        run.process.send_signal(SIGINT)
        assert run.process.wait(PATIENCE_S) == 0
        assert run.output.read_text().endswith("Stopped.\n")
        until(lambda: are_gone(everyone))
    with started(data) as run:
        assert run.get("/api/v1/timelines/home", token) == 200
        for name, words in RESTARTED:
            kill_and_await_return(run, name, words)
        everyone = process_tree(run.process.pid)
        run.process.kill()
        run.process.wait()
        until(lambda: are_gone(everyone))


def kill_and_await_return(run: Run, name: str, words: str) -> None:
    killed = run.children(words)[0]
    os.kill(killed, SIGKILL)
    run.said(f"{name} died; starting it again")
    until(lambda: run.is_whole_again(words, killed))


def test_taken_port_is_told_before_anything_starts(tmp_path):
    with socket.create_server((HOST, 0)) as taken:
        port = str(taken.getsockname()[1])
        environment = os.environ | {"PORT": port, "DATA_DIR": str(tmp_path / "data")}
        command = [sys.executable, "-m", "lab.run"]
        ended = subprocess.run(
            command, check=False, env=environment, cwd=CHECKOUT, capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert f"Port {port} cannot be used: Address already in use" in ended.stderr
    assert not (tmp_path / "data").exists()
