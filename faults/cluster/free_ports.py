"""TCP ports that no process listens on."""

import socket
from contextlib import ExitStack

from config.runner.port import HOST


def free_ports(count: int) -> list[int]:
    """Different ports. Another program may take one before it is used."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
