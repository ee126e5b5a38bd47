"""Programs run with failpoints armed; passes of forked processes count together."""

import json
import os
import subprocess
import sys
from pathlib import Path

from config.runner.child import CHECKOUT
from faults.cluster.armed import EXIT_CODE, VARIABLE

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


def run(tmp_path: Path, armed: object) -> list[int]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    output = subprocess.run(
        [sys.executable, "-m", "faults.cluster.armed", str(program)],
        env=os.environ | {VARIABLE: json.dumps(armed), "PYTHONPATH": str(CHECKOUT)},
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return [int(line) for line in output.split()]


def test_the_chosen_pass_exits_and_no_other(tmp_path):
    assert run(tmp_path, {"place": {"do": "exit", "after": 1}}) == [0, EXIT_CODE, 0]


def test_nothing_armed_does_nothing(tmp_path):
    assert run(tmp_path, {}) == [0, 0, 0]
