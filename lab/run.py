"""`make run`: servers, migrations, demo community and all processes in one terminal.

The environment gives PORT (8000) and DATA_DIR (.data), and may give the URLs of servers.
Streams are at the next free port above PORT.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from lab.runner.child import CHECKOUT
from lab.runner.errors import PreparationFailed, RunFailed
from lab.runner.installation import Installation, usual_installation
from lab.runner.port import next_free_port, usable_port
from lab.runner.programs import (
    app_environment,
    front_child,
    secret_key,
    streaming_child,
    write_manage,
)
from lab.runner.restarts import Restarter, keep_running
from lab.runner.terminal import StartScreen, say, step
from lab.services import RunningServices, ServiceError, running_services
from lab.services.folders import closed_folder
from lab.services.spawn import spawn

_CHILD_WAIT_S = 1.0
# Long enough to see how Tideline behaves without the server.
_SERVER_WAIT_S = 5.0
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """The first signal raises it in the main thread; later signals are ignored."""


def main() -> None:
    try:
        with stop_on_signals():
            run(usable_port(os.environ.get("PORT", "8000")), _folder())
    except StopRequested:
        say("Stopped.")
    except (RunFailed, ServiceError) as error:
        sys.exit(str(error))


def run(port: int, folder: Path) -> None:
    """Starts all processes, prints the start screen, and restarts what dies until a signal."""
    logs = closed_folder(folder / "logs")
    with ExitStack() as stack:
        with step("starting PostgreSQL and Redis"):
            services = stack.enter_context(running_services(folder, report=_say_detail))
        media = os.environ.get("MEDIA_DIR") or str(closed_folder(folder / "media"))
        web_port = next_free_port(port)
        streaming_port = next_free_port(web_port)
        streaming = {"STREAMING_URL": f"ws://localhost:{port}"}
        urls = {"MEDIA_DIR": media, **streaming, **services.environment()}
        values = (urls, secret_key(folder), port)
        (folder / "environment").unlink(missing_ok=True)  # of an older version
        write_manage(folder / "manage", *values)
        environment = app_environment(*values)
        installation = usual_installation(environment, logs, web_port)
        streams = streaming_child(logs, environment, streaming_port)
        front = front_child(logs, environment, (port, web_port, streaming_port))
        more = {streams.name: streams, front.name: front}
        installation.processes = {**installation.processes, **more}
        ports = {streams.name: streaming_port, front.name: port}
        installation.ports = {**installation.ports, **ports}
        stack.callback(_stop, installation)
        demo = _start(installation)
        say(StartScreen(port=port, folder=folder, data=services.home, **demo).text())
        keep_running(_restarters(services, installation))


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Ctrl-C, a kill and a closed terminal raise StopRequested in the block, once."""
    before = {number: signal.signal(number, _request_stop) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _request_stop(number: int, frame: FrameType | None) -> NoReturn:
    for later in _STOP_SIGNALS:
        signal.signal(later, signal.SIG_IGN)
    raise StopRequested


def _folder() -> Path:
    return CHECKOUT / os.environ.get("DATA_DIR", ".data")


def _say_detail(line: str) -> None:
    say(f"    {line}")


def _start(installation: Installation) -> dict[str, Any]:
    """Starts the processes and returns the facts about the demo community.

    The web server loads its code during the migrations and opens its port after them. Worker and
    compensator start later, so that the migrations have the processor. Until the worker delivers,
    the web server is not ready, and the start screen is not shown.
    """
    web, *others = installation.processes.values()
    web.begin()
    demo = _prepare(installation.environment)
    with step("starting the web server and the worker"):
        for child in others:
            child.begin()
        installation.wait_until_ready()
    return demo


def _prepare(environment: Mapping[str, str]) -> dict[str, Any]:
    """Runs lab.runner.prepare. Raises PreparationFailed after that process printed its error."""
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "lab.runner.prepare", str(writer)]
    process = spawn(command, None, env=environment, cwd=CHECKOUT, keep_open=[writer])
    os.close(writer)
    try:
        with open(reader) as output:
            text = output.read()
        if process.wait() != 0:
            raise PreparationFailed
    finally:
        process.kill()
        process.wait()
    facts: dict[str, Any] = json.loads(text)
    return facts


def _restarters(services: RunningServices, installation: Installation) -> list[Restarter]:
    now = time.monotonic()
    children = installation.processes.values()
    return [Restarter(child, _CHILD_WAIT_S, say, now) for child in children] + [
        Restarter(server, _SERVER_WAIT_S, say, now) for server in services.servers
    ]


def _stop(installation: Installation) -> None:
    """Stops the web server first, so that it gives the worker no new work."""
    web, *others = installation.processes
    with step("stopping the web server"):
        installation.stop([web])
    with step("stopping the worker and the compensator"):
        installation.stop(others)


if __name__ == "__main__":
    main()
