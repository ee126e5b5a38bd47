"""Programs run with failpoints armed; passes of forked processes count together."""

import json
import os
import subprocess
import sys
from pathlib import Path

from lab.faults.cluster.with_failpoints import EXIT_CODE, HAPPENED, VARIABLE
from lab.runner.child import CHECKOUT

PROGRAM = """
import multiprocessing, os
from infra.changes.failpoints import failpoint
multiprocessing.set_start_method("fork")
for number in range(3):
    child = os.fork()
    if not child:
        failpoint("place")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def run(tmp_path: Path, armed: object) -> tuple[list[int], str]:
    """The exit codes, and the log."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "-m", "lab.faults.cluster.with_failpoints", str(program)],
        env=os.environ | {VARIABLE: json.dumps(armed), "PYTHONPATH": str(CHECKOUT)},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(line) for line in ended.stdout.split()], ended.stderr


def test_the_chosen_pass_exits_and_no_other_and_the_log_says_so(tmp_path):
    codes, log = run(tmp_path, {"place": {"do": "exit", "after": 1}})
    assert codes == [0, EXIT_CODE, 0]
    assert log.count(f"{HAPPENED}place\n") == 1


def test_nothing_armed_does_nothing(tmp_path):
    codes, log = run(tmp_path, {})
    assert (codes, HAPPENED in log) == ([0, 0, 0], False)
