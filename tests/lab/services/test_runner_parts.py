"""The small parts of `make run`: port, key, screen, environment, signals, progress.

When a process that died is started again. Time is a number the test gives.
"""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import django
import pytest

from lab.run import StopRequested, stop_on_signals
from lab.runner import terminal
from lab.runner.child import CHECKOUT, Child
from lab.runner.errors import PortUnusable
from lab.runner.port import HOST, is_answering, usable_port
from lab.runner.programs import app_environment, secret_key, write_manage
from lab.runner.restarts import Restarter
from lab.runner.terminal import StartScreen
from lab.services import ServiceError
from tests.services import are_gone
from tests.waiting import until


@pytest.mark.parametrize("text", ["", "web", "0", "65536", "-1", "8_0", "٣"])
def test_what_is_no_port_is_refused(text):
    with pytest.raises(PortUnusable, match="not a number between 1 and 65535"):
        usable_port(text)


def test_port_somebody_listens_on_is_refused():
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortUnusable, match=f"Port {port} cannot be used: Address already"):
            usable_port(str(port))
    assert usable_port(str(port)) == port


def test_taken_port_is_said_before_packages_are_installed(tmp_path):
    """`make run` while another one goes on: its packages are not touched."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {sys.executable} "$@"\n')
    python.chmod(0o700)
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        said = subprocess.run(
            ["make", "run", f"PORT={port}", f"PYTHON={python}"],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert said.returncode == 2
    assert f"Port {port} cannot be used: Address already in use" in said.stderr
    assert (tmp_path / "calls").read_text() == f"-m lab.runner.port {port}\n"


def test_nobody_answers_on_a_free_port():
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    assert not is_answering(port, "/")


def test_key_is_made_once_and_kept_from_others(tmp_path):
    key = secret_key(tmp_path)
    assert len(key) >= 50
    assert secret_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_key_half_written_by_a_crash_is_made_again(tmp_path):
    (tmp_path / "secret_key.new").write_text("half")
    assert len(secret_key(tmp_path)) >= 50


def test_environment_of_the_person_wins_except_for_the_urls(monkeypatch):
    monkeypatch.setenv("PUBLIC_URL", "http://mine")
    monkeypatch.setenv("REDIS_URL", "redis://old")
    environment = app_environment({"REDIS_URL": "unix:///new"}, "key", 8001)
    assert environment["PUBLIC_URL"] == "http://mine"
    assert environment["REDIS_URL"] == "unix:///new"
    assert environment["SECRET_KEY"] == "key"


READ = "import os; print(*(os.environ[n] for n in ('PUBLIC_URL', 'REDIS_URL', 'SECRET_KEY')))"
KEY = "key-" * 20


def test_manage_runs_with_the_environment_and_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PUBLIC_URL", "http://localhost/it's")
    file = tmp_path / "it's a folder" / "manage"
    file.parent.mkdir()
    for port in (8000, 8001):
        write_manage(file, {"REDIS_URL": "unix:///a b?db=0"}, KEY, port)
    argv = [str(file), "shell", "--no-imports", "-v", "0", "-c", READ]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout == f"http://localhost/it's unix:///a b?db=0 {KEY}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o700


def test_screen_says_all_there_is_to_know():
    screen = StartScreen(
        8001, ["ada", "bea"], "hunter2", "TOKEN", "root", Path("/here/.data"), Path("/there")
    )
    lines = screen.text().splitlines()
    assert len(lines) <= 24
    assert "Tideline is running at http://localhost:8001" in lines
    assert "  Accounts  ada, bea" in lines
    assert "  Password  hunter2" in lines
    assert "  Operator  root, the same password, at http://localhost:8001/admin/" in lines
    assert "  Data      /there" in lines
    assert "  Logs      /here/.data/logs" in lines
    assert "  Commands  /here/.data/manage help" in lines
    curl = '  curl -H "Authorization: Bearer $TOKEN" http://localhost:8001/api/v1/timelines/home'
    assert lines[-2:] == ["  export TOKEN=TOKEN", curl]
    assert "same data; `make clean` deletes it." in screen.text()


def test_screen_says_how_to_delete_the_data_of_another_folder(monkeypatch):
    monkeypatch.setenv("DATA_DIR", ".data new")
    assert terminal.clean_command() == "DATA_DIR='.data new' make clean"


def test_screen_does_not_say_that_it_deletes_data_of_other_servers():
    screen = StartScreen(8001, ["ada"], "hunter2", "TOKEN", None, Path("/here/.data"), None)
    assert "deletes" not in screen.text()
    assert "  Operator  your superuser at http://localhost:8001/admin/" in screen.text()


def test_commands_line_runs_in_a_shell_also_below_a_folder_with_a_space(tmp_path):
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    write_manage(folder / "manage", {"REDIS_URL": "unix:///a"}, KEY, 8000)
    screen = StartScreen(8000, ["ada"], "hunter2", "TOKEN", None, folder, folder)
    line = next(line for line in screen.text().splitlines() if "Commands" in line)
    command = line.split(maxsplit=1)[1].removesuffix("help") + 'version; echo "$SECRET_KEY."'
    said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [django.get_version(), "."], "the shell keeps nothing of it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_first_signal_asks_to_stop_and_the_second_does_not_disturb(number):
    before = signal.getsignal(number)
    with stop_on_signals():
        with pytest.raises(StopRequested):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before


def test_slow_step_says_that_it_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "TICK_S", 0.01)
    with terminal.step("counting"):
        until(lambda: "counting: 0 s" in capsys.readouterr().out)


def test_closed_terminal_does_not_stop_the_stopping(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", closefd=False) as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        terminal.say("stopping")
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)
    os.close(writer)


def test_child_that_is_replaced_takes_its_own_children_along(tmp_path):
    """A web server killed with -9 leaves a process that goes on holding the port."""
    script = "sleep 3600 & echo $!; wait"
    child = Child("web", ["/bin/sh", "-c", script], tmp_path / "log", dict(os.environ))
    child.begin()
    orphan = first_number(child)
    os.kill(child._process.pid, signal.SIGKILL)
    child._process.wait()
    child.begin()
    until(lambda: are_gone([orphan]))
    child.stop()
    assert not child.is_running


def first_number(child: Child) -> int:
    return int(until(child.log.read_text).splitlines()[0])


def test_child_is_asked_to_stop_once(tmp_path):
    """Our commands take a second request as an order to drop the batch in hand."""
    script = "n=0; trap 'n=$((n+1)); echo asked $n' TERM; echo 0; until [ $n -gt 0 ]; do :; done"
    script += "; sleep 0.3"
    child = Child("worker", ["/bin/sh", "-c", script], tmp_path / "log", dict(os.environ))
    child.begin()
    first_number(child)
    child.begin_stop()
    child.stop()
    assert child.log.read_text() == "0\nasked 1\n"


class Process:
    name = "web"

    def __init__(self):
        self.is_running = True
        self.starts = 0

    def begin(self):
        self.starts += 1
        self.is_running = True


@pytest.fixture
def process():
    return Process()


@pytest.fixture
def lines():
    return []


@pytest.fixture
def restarter(process, lines):
    return Restarter(process, first_wait_s=1, report=lines.append, began_at=0)


def die(restarter: Restarter, now: float) -> float:
    """Dies at `now`; how long it took until it was started again."""
    restarter.process.is_running = False
    starts = restarter.process.starts
    later = now
    while restarter.process.starts == starts:
        restarter.check(later)
        later += 0.5
    return later - 0.5 - now


def test_living_process_is_left_alone(restarter, process, lines):
    restarter.check(1)
    assert process.starts == 0
    assert lines == []


def test_death_is_told_once_and_mended_in_time(restarter, lines):
    assert die(restarter, 10) == 1
    assert lines == ["  web died; starting it again in 1 s"]


def test_each_death_soon_after_a_start_doubles_the_wait_up_to_half_a_minute(restarter):
    waits = []
    now = 10.0
    for _ in range(7):
        waits.append(die(restarter, now))
        now += waits[-1] + 1
    assert waits == [1, 2, 4, 8, 16, 30, 30]


def test_long_life_resets_the_wait(restarter):
    die(restarter, 10)
    die(restarter, 12)
    assert die(restarter, 200) == 1


def test_failing_start_is_told_and_tried_again(restarter, process, lines):
    def refuse():
        process.starts += 1
        raise ServiceError("the folder is in use")

    process.begin = refuse
    die(restarter, 10)
    die(restarter, 12)
    assert "  the folder is in use" in lines
    assert process.starts == 2
