"""The tutorial for an empty Debian, from an empty folder to an image that nginx serves.

With PostgreSQL, Redis and nginx of the distribution, the files of deploy/, and the commands of the
document. What needs a machine of its own is left out: apt, users, systemd.
"""

import json
import os
import ssl
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from infra.processes.free_ports import free_ports
from lab.runner.port import is_answering
from lab.services.machine import Search
from tests.distribution import find_program, library_path
from tests.installed import IS_ROOT, Installation
from tests.nginx import find_nginx, running_nginx
from tests.pictures import picture
from tests.services import private_services
from tests.waiting import until

pytestmark = pytest.mark.slow
PASSWORD = "a-long-secret-word"
BOUNDARY = "boundary-of-this-test"
NEEDED = (
    "needs PostgreSQL, Redis and nginx of Debian or Ubuntu, or an apt-get that can download them"
)


class Site(NamedTuple):
    """The whole site, seen from outside."""

    installed: Installation
    address: str
    trusted: ssl.SSLContext
    media: Path

    def ask(self, path: str, body: bytes | None = None, **headers: str) -> Any:
        """The answer through nginx. Raises HTTPError."""
        request = urllib.request.Request(f"{self.address}{path}", body, headers)
        return urllib.request.urlopen(request, timeout=30, context=self.trusted)

    def post(self, path: str, token: str | None = None, **form: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with self.ask(path, urlencode(form).encode(), **headers) as answer:
            return json.load(answer)

    def status(self) -> tuple[int, str]:
        """The exit code of show_status, and its line about images."""
        shown = self.installed.run_as_unit(self.installed.step(7))
        lines = [one for one in shown.stdout.splitlines() if one.startswith("images")]
        return shown.returncode, "".join(lines) or shown.stderr


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    postgres, redis = find_program("postgresql"), find_program("redis-server")
    nginx = find_nginx()
    if not (postgres and redis and nginx):
        pytest.skip(NEEDED)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("LD_LIBRARY_PATH", library_path("postgresql", "redis-server", "nginx"))
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tideline-root-")))
        root.chmod(0o755)
        search = Search(str(redis.parent), [str(postgres.parent)])
        services = stack.enter_context(private_services(1, search))
        for socket in services.home.rglob("*.s*") if IS_ROOT else ():
            if socket.is_socket():
                socket.chmod(0o666)  # the units' user is not the servers' one
        yield stack.enter_context(_installed(root, services.environment(), nginx))


@contextmanager
def _installed(root: Path, stores: dict[str, str], nginx: Path) -> Iterator[Site]:
    installed, ports = Installation(root, "localhost"), free_ports(3)
    address = f"https://localhost:{ports[0]}"
    installed.copy_checkout()
    # Not compressed: the packages of the tests bring brotli, which takes half a minute.
    settings = installed.step(4).replace("collectstatic", "collectstatic --no-post-process")
    installed.run(f"umask 022\n{settings}")
    installed.change_settings({**stores, "PUBLIC_URL": address})
    installed.run(installed.step(6, "usermod", "nginx", "systemctl"))
    installed.close()
    installed.run_unit("tideline-migrate.service")
    commands = installed.step(5, "cp", "systemctl")
    done = installed.run_as_unit(f"{commands} --password {PASSWORD}")
    assert done.returncode == 0, done.stderr
    with _processes(installed, ports[2]), _proxy(root, ports, nginx):
        trusted = ssl.create_default_context(cafile=root / "etc/ssl/certs/localhost.pem")
        yield Site(installed, address, trusted, root / "var/lib/tideline/media")


@contextmanager
def _processes(installed: Installation, port: int) -> Iterator[None]:
    """The units of tideline.target, with one web server."""
    logs = {name: installed.root / f"{name}.log" for name in ("web@", "worker", "compensate")}
    started = [
        installed.start_unit(f"tideline-{name}.service", log, str(port))
        for name, log in logs.items()
    ]
    try:
        until(lambda: is_answering(port, "/health/ready"), said=logs["web@"].read_text)
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


@contextmanager
def _proxy(root: Path, ports: list[int], nginx: Path) -> Iterator[None]:
    """nginx, whose workers are in the group of Tideline's user, as after `usermod`."""
    with tempfile.TemporaryDirectory(prefix="tideline-nginx-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running_nginx(nginx, folder, _site_file(root, ports), workers="nobody root"):
            yield


def _site_file(root: Path, ports: list[int]) -> str:
    """The installed file, at ports that this test may use."""
    text = (root / "etc/nginx/conf.d/tideline.conf").read_text()
    tls, plain, web = ports
    for ours, theirs in (
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ", f"listen 127.0.0.1:{tls} "),
        ("127.0.0.1:8000", f"127.0.0.1:{web}"),
        ("127.0.0.1:8001", f"127.0.0.1:{web}"),
        ("/var/log/nginx/access.log", str(root / "access.log")),
    ):
        assert text.count(ours) == 1, ours
        text = text.replace(ours, theirs)
    return text


def test_an_image_is_uploaded_and_served_by_nginx(site: Site) -> None:
    image = _upload(site, _sign_up(site))
    with site.ask(image["url"].removeprefix(site.address)) as answer:
        assert answer.headers["Content-Type"] == "image/jpeg"
        assert answer.headers["Accept-Ranges"] == "bytes"  # of nginx; Tideline sends none
        assert answer.read().startswith(b"\xff\xd8\xff")
    until(lambda: site.status()[0] == 0, said=site.status)
    assert site.status() == (0, f"images      up, in {site.media}, read at {site.address}/media/")


def _sign_up(site: Site) -> str:
    """The token of a new account."""
    words = {"scopes": "read write", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}
    app = site.post("/api/v1/apps", client_name="Test", **words)
    client = {name: app[name] for name in ("client_id", "client_secret")}
    asked = {"grant_type": "client_credentials", "scope": "read write"}
    token = site.post("/oauth/token", **client, **asked)["access_token"]
    person = {"username": "bob", "email": "bob@example.org", "password": PASSWORD}
    agreed = {"agreement": "true", "locale": "en"}
    return site.post("/api/v1/accounts", token, **person, **agreed)["access_token"]


def _upload(site: Site, token: str) -> dict[str, Any]:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    body = head.encode() + picture(size=(900, 600)) + f"\r\n--{BOUNDARY}--\r\n".encode()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
    }
    with site.ask("/api/v2/media", body, **headers) as answer:
        assert answer.status == 200
        return json.load(answer)


@pytest.mark.skipif(not IS_ROOT, reason="nginx needs another user than Tideline's")
def test_a_folder_that_nginx_may_not_read_is_seen(site: Site) -> None:
    before = site.media.stat().st_mode
    site.media.chmod(0o700)
    code, line = site.status()
    site.media.chmod(before)
    assert code == 1
    assert line.endswith("/original.jpg answers 403")


@pytest.mark.skipif(not IS_ROOT, reason="the folder needs another owner")
def test_a_folder_that_tideline_may_not_write_is_seen(site: Site) -> None:
    os.chown(site.media, 61_002, 0)
    checked = site.installed.run_as_unit("deploy/manage check --deploy")
    line = site.status()[1]
    os.chown(site.media, 0, 0)
    assert checked.returncode == 1
    assert "No image can be stored: [Errno 13] Permission denied" in checked.stderr
    assert line.startswith("images      DOWN: [Errno 13] Permission denied")


@pytest.mark.skipif(not IS_ROOT, reason="the installation needs another owner")
def test_the_units_may_not_change_what_is_installed(site: Site) -> None:
    for name in ("manage.py", ".static", "deploy/manage"):
        assert site.installed.run_as_unit(f"touch {name}; touch {name}/x").returncode != 0
