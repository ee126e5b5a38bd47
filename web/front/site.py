"""All processes of one tenant: python -m web.front.site WEB_PORT STREAMING_PORT WORKERS.

It loads the code once and forks web server, streaming process, worker and compensator, which share
that memory: a tenant takes half of what four programs take. One that ends begins again. SIGTERM
ends all; they end as well when this process is killed.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from infra.processes.free_ports import LOOPBACK
from infra.processes.launcher import end_with_parent

# Before one that ended begins again.
_PAUSE_S = 1.0
# What all of them need, so that it is loaded once.
_SHARED = ("config.urls", "infra.changes.drainer", "web.front.site", "granian.server.mp")
Role = Callable[[], object]


def main(web_port: str, streaming_port: str, workers: str) -> None:
    _load()
    bind = ["--when-ready", "--host", LOOPBACK, "--port"]
    roles: dict[int, Role] = {}
    for role in (
        _program("web", [*bind, web_port, "--workers", workers]),
        _program("web.streaming", [*bind, streaming_port]),
        _command("run_drainer"),
        _command("compensate_changes", "--every", "2"),
    ):
        roles[_begin(role)] = role
    _keep(roles)


def _load() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    gc.disable()
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    for module in (settings.ROOT_URLCONF, *_SHARED):
        import_module(module)
    import_module("pages.template_environment").compile_templates()
    gc.collect()
    # The collector would write to all of it, and so copy it into each process.
    gc.freeze()
    gc.enable()


def _program(module: str, words: Sequence[str]) -> Role:
    def run() -> None:
        sys.argv = [f"python -m {module}", *words]
        import_module(f"{module}.__main__").main()

    return run


def _command(*words: str) -> Role:
    return lambda: execute_from_command_line(["manage.py", *words])


def _begin(role: Role) -> int:
    """The process of the role. This process has no other thread."""
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        _run(role, parent)
    return pid


def _run(role: Role, parent: int) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent(parent, signal.SIGTERM)
    try:
        role()
    except SystemExit as error:
        sys.stderr.write(f"{error}\n" if isinstance(error.code, str) else "")
    finally:
        sys.stdout.flush()
        os._exit(0)


def _keep(roles: dict[int, Role]) -> None:
    """Until SIGTERM. Then it waits for all of them."""
    asked_to_end: list[int] = []

    def end(number: int, _: object) -> None:
        asked_to_end.append(number)
        for pid in roles:
            os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    while roles:
        pid, _ = os.wait()
        role = roles.pop(pid)
        if not asked_to_end:
            time.sleep(_PAUSE_S)
        if not asked_to_end:
            pid = _begin(role)
            roles[pid] = role
            if asked_to_end:  # just before the new process was known
                os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    main(*sys.argv[1:])
