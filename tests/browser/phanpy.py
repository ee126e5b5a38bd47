"""A built Phanpy, served as its own site, and Tideline behind TLS: what a person finds on the web.

Phanpy is a web client of Mastodon, by other people. It asks `https://` and the name of a server, so
the browser is pointed from the name in deploy/nginx/tideline.conf to the nginx of the test.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from lab.runner.port import HOST, free_port
from tests.browser.chromium import REASON as NO_CHROMIUM
from tests.browser.chromium import Chromium, find_chromium
from tests.browser.conftest import ARTIFACTS
from tests.browser.driving import driven
from tests.browser.live_site import delivering
from tests.browser.serving import running_site
from tests.browser.tab import Look, Tab
from tests.nginx import REASON as NO_NGINX
from tests.nginx import find_nginx, running_proxy

REASON = (
    'no Phanpy: build one as "Tests" in CONTRIBUTING.md says,'
    " and name its folder with PHANPY_BUILD=/path/to/dist"
)
SERVER = "feed.example.org"


class Programs(NamedTuple):
    """`phanpy`: the folder of a build."""

    phanpy: Path
    chromium: Chromium
    nginx: Path


def find_programs() -> Programs | str:
    """All that the test runs, or what is missing here and how to get it."""
    build = os.environ.get("PHANPY_BUILD")
    if not build:
        return REASON
    chromium, nginx = find_chromium(), find_nginx()
    if chromium is None:
        return NO_CHROMIUM
    return Programs(Path(build), chromium, nginx) if nginx else NO_NGINX


@contextmanager
def phanpy_open(programs: Programs, worker: str) -> Iterator[Tab]:
    """A tab with Phanpy's site, in a browser that finds Tideline as SERVER."""
    with ExitStack() as running:
        proxy_port = running.enter_context(_tideline(programs.nginx, worker))
        address = running.enter_context(_static_site(programs.phanpy))
        flags = (
            f"--host-resolver-rules=MAP {SERVER}:443 {HOST}:{proxy_port}",
            "--ignore-certificate-errors",
        )
        tab = Tab(running.enter_context(driven(programs.chromium, *flags)), address, Look())
        running.callback(tab.close)
        yield tab


@contextmanager
def _tideline(nginx: Path, worker: str) -> Iterator[int]:
    """Web and worker behind nginx. The port that speaks TLS."""
    port = free_port()
    settings = {"PUBLIC_URL": f"https://{SERVER}", "ALLOWED_HOSTS": SERVER, "HTTPS": "1"}
    log = ARTIFACTS / f"phanpy-{worker}.log"
    with (
        delivering(worker),
        running_site(log, port=port, environment=settings),
        running_proxy(nginx, [port, port]) as proxy,
    ):
        yield proxy.port


@contextmanager
def _static_site(folder: Path) -> Iterator[str]:
    """The address at which the files of this folder are."""
    handler = partial(_QuietFiles, directory=str(folder))
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()
        thread.join()


class _QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass
