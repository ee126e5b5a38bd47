"""The other process: `python -m tests.interleavings.second_main FD`, a pickled call a message.

It receives no message by pub/sub, as if each of them came late.
"""

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import django

from tests.other_process import end_idle_sessions_late

if TYPE_CHECKING:
    from tests.interleavings.second_process import Call


def main() -> None:
    django.setup()
    end_idle_sessions_late()
    from tests.interleavings.scheduler import watch_statements  # noqa: PLC0415 - needs the settings
    from tests.interleavings.yield_points import yield_points  # noqa: PLC0415

    connection = Connection(int(sys.argv[1]))
    with yield_points(), ThreadPoolExecutor(1, "actor", watch_statements) as threads:
        while (call := _receive(connection)) is not None:
            _play(connection, threads, call)


def _receive(connection: Connection) -> "Call | None":
    """None: the test has ended."""
    try:
        call: Call = connection.recv()
    except EOFError:
        return None
    return call


def _play(connection: Connection, threads: ThreadPoolExecutor, call: "Call") -> None:
    """Says where the call stopped, and lets it go on when the answer is yes."""
    from tests.interleavings.actors import Actor  # noqa: PLC0415 - needs the settings
    from tests.interleavings.scheduler import STUCK_S  # noqa: PLC0415
    from tests.interleavings.second_process import Stop  # noqa: PLC0415

    results: list[object] = []
    actor = Actor("second", lambda: results.append(call()), _refuse)
    running = threads.submit(actor.run)
    actor.let_go()
    while actor.has_stopped(STUCK_S) and not actor.has_ended:
        connection.send(Stop(actor.place, actor.session, actor.gives_way, has_ended=False))
        (actor.let_go if connection.recv() else actor.abandon)()
    wait([running])
    result = results[0] if results else None
    connection.send(Stop("its end", None, False, True, actor.error, result))


def _refuse(_: object) -> None:
    raise AssertionError("Redis is away for the process of the test only")


if __name__ == "__main__":
    main()
