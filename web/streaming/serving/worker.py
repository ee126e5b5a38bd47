"""A worker process: it accepts connections of the shared port, as many as there are places."""

import asyncio
import os
import signal
import socket
import threading
from contextlib import suppress
from typing import Any

from granian.server.mp import WorkerProcess

from web.serving.worker import end_with_parent
from web.streaming.serving.connection import StreamingConnection

# All clients come back at once after a restart.
_KERNEL_QUEUE = 4_096
# When the system has no file left for another connection.
_PAUSE_S = 0.1


@WorkerProcess.wrap_target
def run_worker(
    worker_id: int,
    application: Any,
    sock: Any,
    ipc: Any,
    loop: asyncio.AbstractEventLoop,
    *options: object,
    most: int,
) -> None:
    """Serves until SIGTERM. `most`: connections; others wait in the kernel's queue."""
    listening = socket.socket(fileno=os.dup(sock[1].get_fd()))
    # The main process drains first, also after the SIGINT of a terminal, which all get.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    loop.run_until_complete(_serve(application, listening, most))


async def _serve(application: Any, listening: socket.socket, most: int) -> None:
    has_ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, has_ended.set)
    await application.start()
    accepting = asyncio.create_task(accept(application, listening, most))
    accepting.add_done_callback(lambda _: has_ended.set())
    await has_ended.wait()
    accepting.cancel()
    await application.stop()
    # A fault of ours ends the process, and the main process starts another one.
    with suppress(asyncio.CancelledError):
        await accepting


async def accept(application: Any, listening: socket.socket, most: int) -> None:
    loop, places = asyncio.get_running_loop(), asyncio.Semaphore(most)
    listening.setblocking(False)
    listening.listen(_KERNEL_QUEUE)
    while True:
        await places.acquire()
        try:
            peer, _ = await loop.sock_accept(listening)
        except OSError:
            places.release()
            await asyncio.sleep(_PAUSE_S)
            continue
        await loop.connect_accepted_socket(
            lambda: StreamingConnection(application, places.release), peer
        )
