"""A worker process: Granian's HTTP server with our reception.

Granian's own interface for WSGI has a queue without bounds, and reads bodies in the threads of the
application. So this uses what is below its interface RSGI: bare requests, for a scheduler of ours.
"""

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from granian._granian import CallbackScheduler, RSGIWorker
from granian._signals import set_loop_signals
from granian.server.common import WORKERS_METHODS
from granian.server.mp import WorkerProcess

from web.serving.limits import Limits
from web.serving.pending_request import Application
from web.serving.reception import Reception

# A turn of a thread, when all of them compute. Granian's thread needs a turn for each request that
# it gives out, and before that a request has no age.
_SWITCH_S = 0.001
# A full collection looks at all objects in memory, and serves no request in that time: 70 to 100 ms
# with full caches. It finds nearly nothing: reads make no cycles, and those of writes die young. So
# it comes after so many of the middle generation; Python's default is 10.
_COLLECTIONS_BEFORE_FULL = 1_000
# For open requests, after the main process was killed. Its successor waits for the port.
_ORPHAN_S = 0.5


class Requests(CallbackScheduler):
    """Calls `receive` with each request. Granian's own schedulers start a task for each."""

    def __new__(cls, loop: asyncio.AbstractEventLoop, receive: Callable[[Any], None]) -> "Requests":
        self: Any = super().__new__(cls, loop, receive, None, None, None)  # type: ignore[call-arg]
        self._schedule_fn = receive
        return self


@WorkerProcess.wrap_target
def run_worker(
    worker_id: int,
    application: Application,
    sock: Any,
    ipc: Any,
    loop: asyncio.AbstractEventLoop,
    runtime_mode: Any,
    *options: Any,
    limits: Limits,
) -> None:
    """Serves until SIGTERM. `options`: in the order of `MPServer._spawn_worker`."""
    (
        runtime_threads, runtime_blocking_threads, blocking_threads, idle_timeout, backpressure,
        _, http_mode, http1, http2, websockets, static_path, _, ssl, _, metrics,
    ) = options  # fmt: skip
    worker = RSGIWorker(  # type: ignore[call-arg]
        worker_id, sock, ipc, runtime_threads, runtime_blocking_threads, blocking_threads,
        idle_timeout, backpressure, http_mode, http1, http2, websockets, static_path, *ssl, metrics,
    )  # fmt: skip
    has_ended = asyncio.Event()
    ended = set_loop_signals(loop)  # type: ignore[no-untyped-call]
    ended.add_cb(lambda: loop.call_soon_threadsafe(has_ended.set))
    sys.setswitchinterval(_SWITCH_S)
    collect_all_rarely()
    reception = Reception(loop, application, limits)
    reception.start()
    threading.Thread(target=end_with_parent, daemon=True).start()
    getattr(worker, WORKERS_METHODS[runtime_mode][False])(
        Requests(loop, reception.receive), loop, ended
    )
    loop.run_until_complete(has_ended.wait())


def collect_all_rarely() -> None:
    """Makes full collections of the garbage collector a hundred times less frequent."""
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, _COLLECTIONS_BEFORE_FULL)


def end_with_parent() -> None:
    """Without its main process a worker would share the port with the successor."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_ORPHAN_S)
        os._exit(1)
