"""The nginx of the tests, started with deploy/nginx/tideline.conf.

It is NGINX, the machine's own, or one that apt downloads and checks (tests/distribution.py).
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from infra.processes.free_ports import free_ports
from lab.runner.child import CHECKOUT
from lab.services.working_programs import find_programs, major_version
from tests.distribution import library_path, unpacked_program
from tests.waiting import until

REASON = "no nginx: install it (on Debian `nginx`), or name one with NGINX=/path/to/it"
FILE = CHECKOUT / "deploy/nginx/tideline.conf"
VERSION = r"nginx/(\d+)"
AROUND = """
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/errors.log;
worker_processes 2;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/tideline.conf;
}}
"""


class RunningProxy(NamedTuple):
    """`port` speaks TLS."""

    port: int
    plain_port: int


def find_nginx() -> Path | None:
    """None: this machine has none that runs, and apt does not bring one."""
    if own := os.environ.get("NGINX"):
        return Path(own)
    for program in find_programs(["nginx"], f"{os.environ['PATH']}:/usr/sbin"):
        if runs(program):
            return program
    program = unpacked_program("nginx")
    return program if program and runs(program) else None


def runs(program: Path) -> bool:
    return major_version(program, VERSION, ask="-v", env=environment()) > 0


def environment() -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": library_path("nginx")}


@contextmanager
def running_proxy(
    program: Path,
    web_ports: Sequence[int],
    streams_port: int = 4000,
    media: str = "/var/lib/tideline/media",
) -> Iterator[RunningProxy]:
    """nginx with the project's file. Only addresses, the certificate and `media`, the folder of
    images, are replaced."""
    with tempfile.TemporaryDirectory(prefix="tideline-nginx-") as name:
        folder = Path(name)
        proxy = RunningProxy(*free_ports(2))
        text = _site(folder, proxy, (*web_ports, streams_port))
        text = text.replace("/var/lib/tideline/media/", f"{media}/")
        with running_nginx(program, folder, text):
            yield proxy


@contextmanager
def running_nginx(program: Path, folder: Path, site: str, workers: str = "root") -> Iterator[None]:
    """nginx with this text as its site. `workers`: their user and group, when this process is root.

    All its files are in the folder.
    """
    (folder / "tideline.conf").write_text(site)
    user = f"user {workers};" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, user=user))
    argv = [program, "-p", folder, "-c", folder / "nginx.conf"]
    process = subprocess.Popen(argv, env=environment())
    try:
        until((folder / "pid").exists)
        yield
    finally:
        process.terminate()
        process.wait()


def _site(folder: Path, proxy: RunningProxy, ports: Sequence[int]) -> str:
    """`ports`: of two web servers and of the streams."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=feed.example.org"
    files = ["-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
    text = FILE.read_text()
    for ours, theirs in (
        ("127.0.0.1:8000", f"127.0.0.1:{ports[0]}"),
        ("127.0.0.1:8001", f"127.0.0.1:{ports[1]}"),
        ("127.0.0.1:4000", f"127.0.0.1:{ports[2]}"),
        ("listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{proxy.port} "),
        ("/etc/ssl/certs/feed.example.org.pem", str(certificate)),
        ("/etc/ssl/private/feed.example.org.key", str(key)),
        ("/var/log/nginx/access.log", str(folder / "access.log")),
    ):
        assert text.count(ours) == 1, ours
        text = text.replace(ours, theirs)
    return text
