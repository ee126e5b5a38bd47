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

from lab.runner.port import HOST, free_ports
from tests.browser.chromium import REASON as NO_CHROMIUM
from tests.browser.chromium import Chromium, find_chromium
from tests.browser.conftest import ARTIFACTS
from tests.browser.driving import driven
from tests.browser.live_site import delivering
from tests.browser.serving import running_site
from tests.browser.tab import Look, Tab
from tests.integration.streaming.serving import running_streams
from tests.nginx import REASON as NO_NGINX
from tests.nginx import find_nginx, running_proxy

REASON = (
    'no Phanpy: build one as "Tests" in CONTRIBUTING.md says,'
    " and name its folder with PHANPY_BUILD=/path/to/dist"
)
SERVER = "feed.example.org"


class PhanpyAtTideline(NamedTuple):
    """`address`: of the web server, without nginx. What others write must pass through it: posts
    of a process with another PUBLIC_URL are in none of its cached weeks."""

    tab: Tab
    address: str


class _Tideline(NamedTuple):
    """`proxy_port` speaks TLS."""

    address: str
    proxy_port: int


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
def phanpy_open(programs: Programs, worker: str) -> Iterator[PhanpyAtTideline]:
    """A tab with Phanpy's site, in a browser that finds Tideline as SERVER."""
    with ExitStack() as running:
        tideline = running.enter_context(_tideline(programs.nginx, worker))
        address = running.enter_context(_static_site(programs.phanpy))
        flags = (
            f"--host-resolver-rules=MAP {SERVER}:443 {HOST}:{tideline.proxy_port}",
            "--ignore-certificate-errors",
        )
        tab = Tab(running.enter_context(driven(programs.chromium, *flags)), address, Look())
        running.callback(tab.close)
        yield PhanpyAtTideline(tab, tideline.address)


@contextmanager
def _tideline(nginx: Path, worker: str) -> Iterator[_Tideline]:
    """Web, streams and worker behind nginx, as one site: all have the same settings."""
    port, streams = free_ports(2)
    settings = {
        "PUBLIC_URL": f"https://{SERVER}",
        "STREAMING_URL": f"wss://{SERVER}",
        "ALLOWED_HOSTS": f"{SERVER},{HOST}",
        "HTTPS": "1",
    }
    log, streams_log = (ARTIFACTS / f"phanpy-{part}{worker}.log" for part in ("", "streams-"))
    with (
        delivering(worker, **settings),
        running_site(log, port=port, environment=settings) as address,
        running_streams(streams_log, port=streams, **settings),
        running_proxy(nginx, [port, port], streams) as proxy,
    ):
        yield _Tideline(address, proxy.port)


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
