"""The web server the browser asks: a real one, on the test's own databases and Redis."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from signal import SIGTERM

from lab.runner.port import HOST, free_port, is_answering
from tests.loaded_process import LoadedProcess
from tests.waiting import until


@contextmanager
def running_site(
    log: Path, *more: str, port: int = 0, environment: Mapping[str, str] = {}
) -> Iterator[str]:
    """Its address. `more`: options of `python -m web`. Cost: 0.3 s; the first of a run 2 s.

    Several that run at once are one site, so they have the public address of one of them.
    """
    public = port or _usual_port()
    port = free_port() if is_answering(public, "/health/live") else public
    # A crowded machine is not an overload.
    options = ["--port", str(port), "--wait", "60", "--linger", "0", "--finish", "2", *more]
    log.touch()
    usual = {"PUBLIC_URL": f"http://{HOST}:{public}"}
    argv = ("-m", "tests.browser.forked_web", str(log), *options)
    web = LoadedProcess(*argv, **{**usual, **environment})
    with web:
        try:
            until(lambda: is_answering(port, "/health/live"), said=log.read_text)
            yield f"http://{HOST}:{port}"
        finally:
            web.send_signal(SIGTERM)


@cache
def _usual_port() -> int:
    """Servers with the same address are forked from the same process."""
    return free_port()
