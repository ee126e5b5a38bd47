"""The page "Put Tideline into your Django product": its own files and commands, one by one.

With this Tideline: a web server and a worker on the databases of the test. Left out is what the
page installs; the product runs with the packages of the tests.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from infra.processes.free_ports import free_ports
from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST, is_answering
from lab.runner.programs import compensator_command, worker_command
from tests.other_process import environment_of_this_test
from tests.waiting import until

PAGE = CHECKOUT / "docs/how-to/put-tideline-into-your-django-product.md"
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
AT_THE_END = " (at the end)"
OF_TIDELINE, OF_PRODUCT = "in the folder of Tideline", "in the folder of the product"
# The tests have started Tideline, and have the packages.
DONE_BEFORE = ("make run", "python3 -m venv", ". .venv/", "pip install")
TOKEN = re.compile(r"^export TIDELINE_TOKEN=.*$", re.MULTILINE)
# A crowded machine is not a Tideline that is away.
PATIENT_SETTING = 'TIDELINE["PAGE_DEADLINE_MS"] = 10_000\n'
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
pytestmark = pytest.mark.slow


class Block(NamedTuple):
    """A block of the page. `title`: a file, or the folder that the commands are for."""

    language: str
    title: str
    text: str


PATIENT = Block("python", f"product/settings.py{AT_THE_END}", PATIENT_SETTING)


class Product:
    """A folder next to that of Tideline, and a shell in each of them."""

    def __init__(self, folder: Path, site: str, url: str) -> None:
        self.folder, self.site, self.url = folder, site, url
        (folder / "bin").mkdir()
        for name in ("python", "python3"):
            program = folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
            program.chmod(0o755)
        self.environment = {
            "PATH": f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(CHECKOUT / "client/src"),
            "TIDELINE_URL": site,
        }

    def follow(self, block: Block) -> str:
        """Does what the block says. Returns what its commands printed."""
        if block.language != "sh":
            self._write(block)
            return ""
        lines = [each for each in block.text.splitlines() if not each.startswith(DONE_BEFORE)]
        text = "\n".join(lines).replace("http://localhost:8000", self.site)
        if block.title.startswith(OF_TIDELINE):
            for written, here in self._places().items():
                text = text.replace(written, here)
            environment = environment_of_this_test() | {"PUBLIC_URL": self.site}
            return self._shell(text, CHECKOUT, environment)
        return self._shell(TOKEN.sub("", text), self.folder, self.environment)

    def _places(self) -> dict[str, str]:
        return {
            "../product": str(self.folder),
            ".data/manage": f"{sys.executable} manage.py",
            "http://localhost:8080": self.url,
        }

    def _write(self, block: Block) -> None:
        name = block.title.removesuffix(AT_THE_END)
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text() if block.title.endswith(AT_THE_END) else ""
        file.write_text(f"{before}\n{block.text}" if before else block.text)

    def _shell(self, text: str, folder: Path, environment: dict[str, str]) -> str:
        argv = ["sh", "-euc", text]
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    def server(self, port: int, log: Path) -> Child:
        argv = [sys.executable, str(self.folder / "manage.py"), "runserver", "--noreload"]
        return Child("product", [*argv, f"{HOST}:{port}"], log, self.environment)


@contextmanager
def running(*children: Child) -> Iterator[None]:
    try:
        for child in children:
            child.begin()
        yield
    finally:
        for child in children:
            child.stop()


@contextmanager
def running_tideline(folder: Path, port: int) -> Iterator[None]:
    environment = environment_of_this_test() | {"PUBLIC_URL": f"http://localhost:{port}"}
    web = [sys.executable, "-m", "web", "--port", str(port), "--linger", "0"]
    worker = [sys.executable, *worker_command()]
    compensator = [sys.executable, *compensator_command()]
    children = [
        Child("web", web, folder / "web.log", environment),
        Child("worker", worker, folder / "worker.log", environment),
        Child("compensator", compensator, folder / "compensator.log", environment),
    ]
    with running(*children):
        until(lambda: is_answering(port, "/health/live"), said=(folder / "web.log").read_text)
        yield


def blocks_of(number: int) -> list[Block]:
    """The blocks of a chapter."""
    chapter = PAGE.read_text().partition(f"\n## {number}. ")[2].partition("\n## ")[0]
    return [Block(*match) for match in BLOCK.findall(chapter)]


class Browser:
    """A person's browser on the product's pages."""

    def __init__(self, url: str, http: httpx.Client) -> None:
        self.url, self.http = url, http

    def sign_in(self, name: str) -> str:
        return self.send("/accounts/login/", username=name, password=f"a-word-for-{name}")

    def send(self, path: str, **form: str) -> str:
        page = self.http.get(f"{self.url}{path}").text
        token = CSRF.search(page)
        assert token, page
        return self._text(
            self.http.post(f"{self.url}{path}", data=form | {"csrfmiddlewaretoken": token[1]})
        )

    def see(self) -> str:
        return self._text(self.http.get(f"{self.url}/"))

    def _text(self, answer: httpx.Response) -> str:
        assert answer.status_code == 200, answer.text
        return answer.text


Browsers = Callable[[str], Browser]


@pytest.fixture
def browsers() -> Iterator[Browsers]:
    with ExitStack() as stack:

        def open_browser(url: str) -> Browser:
            http = httpx.Client(follow_redirects=True, timeout=60)
            return Browser(url, stack.enter_context(http))

        yield open_browser


def test_from_an_empty_folder_to_a_feed(world: None, tmp_path: Path, browsers: Browsers) -> None:
    port, product_port = free_ports(2)
    folder = tmp_path / "product"
    folder.mkdir()
    product = Product(folder, f"http://localhost:{port}", f"http://localhost:{product_port}")
    with running_tideline(tmp_path, port):
        said = follow(product, 1)
        product.environment["TIDELINE_TOKEN"] = value_of("token", said)
        follow(product, 2)
        product.follow(PATIENT)
        assert "2 sent, 0 refused" in follow(product, 3)
        *files, run = blocks_of(4)
        assert "runserver" in run.text
        for block in files:
            product.follow(block)
        log = tmp_path / "product.log"
        with running(product.server(product_port, log)):
            until(lambda: is_answering(product_port, "/accounts/login/"), said=log.read_text)
            mia, noah = browsers(product.url), browsers(product.url)
            assert "Nothing here yet" in mia.sign_in("mia")
            assert "Hello, tide" in mia.send("/", text="Hello, tide")
            assert "Hello, tide" not in noah.sign_in("noah")
            assert follow(product, 5).endswith("True\n")
            until(lambda: "Hello, tide" in noah.see())
            assert "Mia" in noah.see()
            assert "40 minutes" not in mia.see()
            follow(product, 8)
            until(lambda: "40 minutes" in mia.see())
            assert "Lentil soup" in mia.see()
            refused = mia.send("/", text="")
            assert "Not published" in refused
        check_token_of_an_app(product)
        secret = value_of("secret", follow(product, 7))
        product.environment["TIDELINE_WEBHOOK_SECRET"] = secret
        check_webhook(product, product_port, tmp_path / "again.log", browsers)
    check_without_tideline(product, product_port, tmp_path / "alone.log", browsers)


def check_token_of_an_app(product: Product) -> None:
    """The page's last block sends the JWT with curl, which a machine may not have."""
    *blocks, exchange = blocks_of(6)
    for block in blocks:
        product.follow(block)
    mint = exchange.text.partition("curl")[0] + 'printf %s "$JWT"'
    sent = re.search(r"-d (grant_type=\S+)", exchange.text)
    assert sent
    assertion = product.follow(exchange._replace(text=mint))
    form = dict([sent[1].split("=", 1)], assertion=assertion)
    answer = httpx.post(f"{product.site}/oauth/token", data=form, timeout=60)
    assert answer.status_code == 200, answer.text
    headers = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    me = httpx.get(f"{product.site}/api/v1/accounts/verify_credentials", headers=headers)
    assert me.json()["username"] == "mia"


def check_webhook(product: Product, port: int, log: Path, browsers: Browsers) -> None:
    with running(product.server(port, log)):
        until(lambda: is_answering(port, "/accounts/login/"), said=log.read_text)
        mia = browsers(product.url)
        mia.sign_in("mia")
        assert "A second post" in mia.send("/", text="A second post")
        until(lambda: "post.created" in log.read_text(), said=log.read_text)


def check_without_tideline(product: Product, port: int, log: Path, browsers: Browsers) -> None:
    with running(product.server(port, log)):
        until(lambda: is_answering(port, "/accounts/login/"), said=log.read_text)
        assert "not available at the moment" in browsers(product.url).sign_in("mia")


def follow(product: Product, number: int) -> str:
    return "".join(product.follow(block) for block in blocks_of(number))


def value_of(name: str, said: str) -> str:
    found = re.search(rf"^{name} (\S+)$", said, re.MULTILINE)
    assert found, said
    return found[1]


def test_every_block_of_the_page_says_where_it_belongs() -> None:
    text = PAGE.read_text()
    assert len(BLOCK.findall(text)) == text.count("\n```") / 2
    assert len(blocks_of(4)) > 3
