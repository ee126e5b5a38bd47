"""A lock on a folder lives as long as whoever works on it."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from signal import SIGKILL

import pytest

from lab.services.errors import DataInUse, StartedOffMainThread
from lab.services.locks import locked
from lab.services.spawn import spawn
from tests.services import are_gone
from tests.waiting import PATIENCE_S, until

CHECKOUT = Path(__file__).parents[3]


def sleeper(tmp_path, **options):
    return spawn(["/bin/sleep", "60"], tmp_path / "log", env={}, **options)


def test_second_taker_is_told_who_holds_the_lock(tmp_path):
    with (
        locked(tmp_path / "lock"),
        pytest.raises(DataInUse, match=f"{tmp_path} is in use by process {os.getpid()}"),
        locked(tmp_path / "lock"),
    ):
        pass


def test_lock_stays_with_the_child_that_inherited_it(tmp_path):
    with locked(tmp_path / "lock") as lock:
        child = sleeper(tmp_path, keep_open=[lock])
    with pytest.raises(DataInUse), locked(tmp_path / "lock", wait_s=0.1):
        pass
    child.kill()
    child.wait()
    with locked(tmp_path / "lock"):
        pass


def test_child_is_out_of_reach_of_the_terminal(tmp_path):
    child = sleeper(tmp_path)
    assert os.getsid(child.pid) == child.pid
    child.kill()
    child.wait()


def test_child_whose_parent_is_already_gone_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1 << 22)
    assert sleeper(tmp_path).wait(PATIENCE_S) == 1
    assert "has died" in (tmp_path / "log").read_text()


def test_child_dies_with_its_parent(tmp_path):
    """The parent is a process in between; its end, not its wish, ends the child."""
    script = (
        "import pathlib, sys, time; from lab.services.spawn import spawn;"
        "child = spawn(['/bin/sleep', '3600'], pathlib.Path(sys.argv[1]), env={});"
        "print(child.pid, flush=True); time.sleep(3600)"  # until killed
    )
    command = [sys.executable, "-c", script, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(SIGKILL)
        parent.wait()
        until(lambda: are_gone([child]))


def test_server_is_not_started_from_a_thread(tmp_path):
    refused = []

    def start():
        try:
            sleeper(tmp_path)
        except StartedOffMainThread as error:
            refused.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refused
