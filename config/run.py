"""`make run`: services, migrations, the demo community, web, worker and compensator; one screen.

PORT (8000) and DATA_DIR (.data) come from the environment, and so may the services' URLs.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from config.runner.child import CHECKOUT, Child
from config.runner.errors import ChildDidNotStart, PreparationFailed, RunFailed
from config.runner.port import is_answering, usable_port
from config.runner.programs import app_environment, list_children, write_environment
from config.runner.screen import StartScreen
from config.runner.secret_key import secret_key
from config.runner.signals import StopRequested, stop_on_signals
from config.runner.terminal import say, step
from config.runner.watch import Restarter, keep_running
from config.services import RunningServices, ServiceError, running_services
from config.services.spawn import spawn

# The web server tells nobody when it is ready.
_WEB_POLL_S = 0.05
_FIRST_WAIT_S = 1.0
# Long enough to see what a missing server does before it comes back.
_SERVER_WAIT_S = 5.0


def main() -> None:
    try:
        with stop_on_signals():
            run(usable_port(os.environ.get("PORT", "8000")), _folder())
    except StopRequested:
        say("Stopped.")
    except (RunFailed, ServiceError) as error:
        sys.exit(str(error))


def run(port: int, folder: Path) -> None:
    """Starts everything, shows the screen, and keeps it running until a signal comes."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with step("starting PostgreSQL and Redis"):
            services = stack.enter_context(running_services(folder, report=_detail))
        known = (services.environment(), secret_key(folder), port)
        write_environment(folder / "environment", *known)
        environment = app_environment(*known)
        children = list_children(folder / "logs", environment, port)
        stack.callback(_stop, children)
        demo = _start(children, environment, port)
        say(StartScreen(port=port, folder=folder, data=services.home, **demo).text())
        keep_running(_watches(services, children))


def _folder() -> Path:
    return CHECKOUT / os.environ.get("DATA_DIR", ".data")


def _detail(line: str) -> None:
    say(f"    {line}")


def _start(children: Sequence[Child], environment: Mapping[str, str], port: int) -> dict[str, Any]:
    """Starts the children and gives what there is to know about the demo.

    The web loads its code while the databases are brought up to date: that halves the wait, and
    nobody knows its address yet. Those who work unasked wait for the end of it.
    """
    web, *others = children
    web.begin()
    demo = _prepare(environment)
    with step("starting the web server"):
        _await(web, port)
    for child in others:
        child.begin()
    return demo


def _prepare(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the prepare process answers. Raises PreparationFailed; it has said why."""
    answer, question = os.pipe()
    command = [sys.executable, "-m", "config.runner.prepare", str(question)]
    process = spawn(command, None, env=environment, cwd=CHECKOUT, keep_open=[question])
    os.close(question)
    try:
        with open(answer) as output:
            said = output.read()
        if process.wait() != 0:
            raise PreparationFailed
    finally:
        process.kill()
        process.wait()
    found: dict[str, Any] = json.loads(said)
    return found


def _await(web: Child, port: int) -> None:
    """Returns when the web answers. Raises ChildDidNotStart."""
    while not is_answering(port, "/health/live"):
        if not web.is_running:
            raise ChildDidNotStart(web.name, web.log)
        time.sleep(_WEB_POLL_S)


def _watches(services: RunningServices, children: Sequence[Child]) -> list[Restarter]:
    now = time.monotonic()
    return [Restarter(child, _FIRST_WAIT_S, say, now) for child in children] + [
        Restarter(server, _SERVER_WAIT_S, say, now) for server in services.servers
    ]


def _stop(children: Sequence[Child]) -> None:
    """The web first, so that nobody writes what the others would have to finish."""
    web, *others = children
    with step("stopping the web server"):
        web.stop()
    with step("stopping the worker and the compensator"):
        for child in others:
            child.begin_stop()
        for child in others:
            child.stop()


if __name__ == "__main__":
    main()
