"""The web server the browser asks: a real one, on the test's own databases and Redis."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lab.runner.child import Child
from lab.runner.port import HOST, free_port, is_answering
from tests.other_process import environment_of_this_test
from tests.waiting import until


@contextmanager
def running_site(
    log: Path, *more: str, port: int = 0, environment: Mapping[str, str] = {}
) -> Iterator[str]:
    """Its address. `more`: options of `python -m web`. Cost: 3 s."""
    port = port or free_port()
    address = f"http://{HOST}:{port}"
    # A crowded machine is not an overload.
    options = ["--port", str(port), "--wait", "60", "--linger", "0", "--finish", "2", *more]
    web = Child(
        "web",
        [sys.executable, "-m", "web", *options],
        log,
        environment_of_this_test()
        | {"DJANGO_SETTINGS_MODULE": "config.settings", "PUBLIC_URL": address}
        | {"READ_WINDOW_MS": "20"}  # the default, which other tests turn off
        | environment,
    )
    web.begin()
    try:
        until(lambda: is_answering(port, "/health/live"), said=log.read_text)
        yield address
    finally:
        web.stop()
