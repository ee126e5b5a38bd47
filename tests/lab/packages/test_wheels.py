"""Both wheels in empty environments, without a checkout: commands, pages, texts, and the client.

The environments take the packages that the wheels need from that of the tests.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from infra.version import VERSION
from lab.runner.child import CHECKOUT
from lab.runner.port import HOST, free_port, is_answering
from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S, until

OF_CHECKOUT = ("PYTHONPATH", "VIRTUAL_ENV", "DJANGO_SETTINGS_MODULE")
PRODUCT = """
SECRET_KEY = "of this test"
INSTALLED_APPS = [
    "django.contrib.auth", "django.contrib.contenttypes", "tideline_client.contrib.django",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
TIDELINE = {"URL": "https://feed.example.org", "TOKEN": "token"}
"""
ASK = """
import sys, tideline_client
print(tideline_client.__file__, tideline_client.Tideline(sys.argv[1]).site.get().domain)
"""


class Installed:
    """An environment of the wheel of `source`, in a folder that is no checkout."""

    def __init__(self, folder: Path, source: Path, variables: Mapping[str, str]) -> None:
        self.folder = folder
        folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if name not in OF_CHECKOUT}
        self.environment = kept | dict(variables)
        self._run(sys.executable, "-m", "venv", str(folder / "env"))
        build = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run([sys.executable, *build], cwd=source, check=True, capture_output=True)
        [wheel] = folder.glob("*.whl")
        self.run("pip", "install", "--no-deps", "--no-index", str(wheel))
        [packages] = (folder / "env/lib").glob("python*/site-packages")
        # Path files inside of the folder that this one names, as of a checkout, have no effect.
        (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))

    def program(self, name: str) -> str:
        return str(self.folder / "env/bin" / name)

    def run(self, name: str, *words: str) -> str:
        """What a program of the environment prints."""
        return self._run(self.program(name), *words)

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def server(world: None, tmp_path: Path) -> Installed:
    """Tideline, with settings from the environment, on the databases of the test."""
    variables = environment_of_this_test() | {
        "DEVELOPMENT": "1",
        "MEDIA_DIR": str(tmp_path / "media"),
    }
    given = {name: value for name, value in variables.items() if name not in OF_CHECKOUT}
    return Installed(tmp_path / "server", CHECKOUT, given)


@pytest.fixture
def client(tmp_path: Path) -> Installed:
    settings = {"DJANGO_SETTINGS_MODULE": "product", "PYTHONPATH": str(tmp_path / "client")}
    installed = Installed(tmp_path / "client", CHECKOUT / "client", settings)
    (installed.folder / "product.py").write_text(PRODUCT)
    return installed


@pytest.fixture
def site(server: Installed) -> Iterator[str]:
    """The address of its web server."""
    port = free_port()
    url = f"http://localhost:{port}"
    argv = [server.program("python"), "-m", "web", "--host", HOST, "--port", str(port)]
    log = server.folder / "web.log"
    with log.open("w") as output:
        web = subprocess.Popen(
            [*argv, "--linger", "0"],
            cwd=server.folder,
            env=server.environment | {"PUBLIC_URL": url},
            stdout=output,
            stderr=output,
        )
    try:
        until(lambda: is_answering(port, "/health/live"), said=log.read_text)
        yield url
    finally:
        web.terminate()
        web.wait(PATIENCE_S)


def test_the_server_and_the_client_work_without_a_checkout(
    server: Installed, client: Installed, site: str
) -> None:
    place = server.run("python", "-c", "import infra.version as v; print(v.__file__, v.VERSION)")
    assert place.split() == [f"{_packages(server)}/infra/version.py", VERSION]
    server.run("tideline", "check")
    server.run("tideline", "makemigrations", "--check", "--dry-run")
    server.run("tideline", "migrate_shards")
    # The files of SQL, which migrations read.
    shown = server.run("tideline", "sqlmigrate", "posts", "0002", "--database", "shard0")
    assert "CREATE OR REPLACE FUNCTION" in shown
    words = ["ann", "--email", "ann@example.org", "--password", "a-good-long-word"]
    server.run("tideline", "accounts", "create", *words)
    with httpx.Client(base_url=site, timeout=PATIENCE_S) as browser:
        page = browser.get("/auth/sign_in", headers={"Accept-Language": "de"}).text
        assert "Passwort" in page, page
        assert browser.get("/static/pages/page.css").status_code == 200
        account = browser.get("/api/v1/accounts/lookup?acct=ann").json()
        # By the scripts of Redis.
        path = f"/api/v1/accounts/{account['id']}/statuses"
        assert browser.get(path).json() == []
    said = client.run("python", "-c", ASK, site)
    assert said.split()[0] == f"{_packages(client)}/tideline_client/__init__.py"


def test_the_django_part_works_without_a_checkout(client: Installed) -> None:
    client.run("python", "-m", "django", "check")
    shown = client.run("python", "-m", "django", "showmigrations", "tideline")
    assert "0002_deleted_users" in shown
    render = "import django; django.setup(); from django.template.loader import get_template;"
    client.run("python", "-c", f"{render} get_template('tideline/feed.html')")


def _packages(installed: Installed) -> Path:
    [packages] = (installed.folder / "env/lib").glob("python*/site-packages")
    return packages
