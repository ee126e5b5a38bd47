"""The servers of a benchmark end with it, also if it is killed."""

import signal
import subprocess
import sys

from lab.runner.child import CHECKOUT
from lab.runner.port import is_answering
from tests.services import are_gone
from tests.waiting import until

# Prints port and process id when the server answers, and then waits to be killed.
BENCHMARK = """
import signal
from lab.bench.server import bare_server

with bare_server({"page": b"some bytes"}) as server:
    print(server.address[1], server.pid, flush=True)
    signal.pause()
"""


def test_a_killed_benchmark_leaves_no_bare_server() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BENCHMARK], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as benchmark:
        assert benchmark.stdout is not None
        port, pid = map(int, benchmark.stdout.readline().split())
        assert is_answering(port, "/bare?page")
        benchmark.send_signal(signal.SIGKILL)
    until(lambda: are_gone([pid]))
    assert not is_answering(port, "/bare?page")
