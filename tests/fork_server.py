"""A process that has loaded the product and forks others: `python -m tests.fork_server FD`.

It has no threads and no connections. The test asks it by the connection FD: ("start", argv) comes
with two open files, for the input and the output of the new process, and is answered by its number;
("wait", number) by how it ended, and ("stop", number) when it has stopped itself.
"""

import gc
import os
import runpy
import socket
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection

import django
from django.urls import get_resolver


def main() -> None:
    gc.disable()
    django.setup()
    assert get_resolver().url_patterns
    gc.freeze()
    gc.enable()
    if argv := _serve(Connection(int(sys.argv[1]))):
        _run(argv)


def _serve(connection: Connection) -> Sequence[str] | None:
    """What a new process has to run. None: the test's process has ended."""
    while True:
        try:
            word, asked = connection.recv()
        except EOFError:
            return None
        if word != "start":
            connection.send(_wait(word, asked))
        elif number := _fork(connection):
            connection.send(number)
        else:
            connection.close()
            return list(asked)


def _fork(connection: Connection) -> int:
    """The number of the new process; there it is 0."""
    with socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as sent:
        _, files, _, _ = socket.recv_fds(sent, 1, 2)
    number = os.fork()
    for standard, file in enumerate(files):
        if not number:
            os.dup2(file, standard)
        os.close(file)
    return number


def _wait(word: str, number: int) -> int | None:
    if word == "stop":
        os.waitid(os.P_PID, number, os.WSTOPPED | os.WNOWAIT)
        return None
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def _run(argv: Sequence[str]) -> None:
    """As Python does: -m and a module, or -c and a text, and the words for them."""
    how, program, *words = argv
    sys.argv = [program, *words]
    if how == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        exec(program, {"__name__": "__main__"})


if __name__ == "__main__":
    main()
