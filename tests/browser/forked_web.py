"""The web server, which prints to a file: `python -m tests.browser.forked_web LOG [OPTION ...]`.

It ends with the process that it was forked from, however that ends.
"""

import ctypes
import os
import runpy
import sys
from signal import SIGKILL

from infra.processes.launcher import PR_SET_PDEATHSIG


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(log, standard)
    runpy.run_module("web", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
