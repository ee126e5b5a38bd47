"""A client that knows nothing of Tideline: a person signs in to Phanpy and uses it.

A built Phanpy, served as its own site, and Tideline behind TLS: what a person finds on the web.

Phanpy is a web client of Mastodon, by other people. It asks `https://` and the name of a server, so
the browser is pointed from the name in deploy/nginx/tideline.conf to the nginx of the test.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from accounts.models import User
from infra.processes.free_ports import free_ports
from lab.runner.port import HOST
from posts.ids import PostId
from relations.actions.follow import follow
from tests.browser.chromium import REASON as NO_CHROMIUM
from tests.browser.chromium import Chromium, find_chromium
from tests.browser.conftest import ARTIFACTS, SHOTS
from tests.browser.driving import driven
from tests.browser.feeds import make_named, send
from tests.browser.live_site import delivering
from tests.browser.serving import running_site
from tests.browser.tab import Look, Tab
from tests.callers import Caller
from tests.integration.streaming.serving import running_streams
from tests.nginx import REASON as NO_NGINX
from tests.nginx import find_nginx, running_proxy
from tests.waiting import until
from tests.world import drain_all, publish

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


PASSWORD = "a-password-of-tests-0123"
# Until bob does it again: Phanpy listens some seconds after its page is there, and nothing says so.
SOON_MS = 1_000
TEXT = "The tide is low #harbour"


@pytest.fixture
def programs() -> Programs:
    """Before the other fixtures: without Phanpy there is nothing to prepare."""
    found = find_programs()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def bobs(world: None) -> PostId:
    """A post of bob. He and ann follow each other, and ann has a password."""
    ann, bob = make_named("ann"), make_named("bob")
    user = User.objects.get(pk=ann)
    user.set_password(PASSWORD)
    user.save()
    follow(ann, bob)
    follow(bob, ann)
    post = publish(bob, TEXT)
    drain_all()
    return post


@pytest.fixture
def phanpy(programs: Programs, bobs: PostId, worker_id: str) -> Iterator[PhanpyAtTideline]:
    """With Phanpy open, where no account is signed in. Fails if an answer of Tideline is missing,
    wrong or closed to Phanpy: then there is a 4xx, a 5xx, or an error in the console."""
    with phanpy_open(programs, worker_id) as opened:
        yield opened
        assert opened.tab.faults == []


def test_a_person_uses_phanpy(phanpy: PhanpyAtTideline, bobs: PostId) -> None:
    tab = phanpy.tab
    sign_in(tab)
    read_home(tab)
    see_a_notification_of_the_stream(phanpy)
    publish_a_post(tab)
    look_at_a_profile(tab)
    search_for_a_person(tab)
    read_notifications(tab)
    see_an_edit_of_the_stream(phanpy, bobs)
    favourite_a_post(tab, bobs)


@contextmanager
def pictured(tab: Tab, name: str) -> Iterator[None]:
    yield
    tab.shoot(SHOTS / f"phanpy-{name}.png")


def sign_in(tab: Tab) -> None:
    tab.open("/#/login")
    tab.type_into("#instanceURL", SERVER)
    with tab.in_window_of(f"Continue with {SERVER}"):
        with pictured(tab, "sign-in"):
            tab.see("Phanpy")
            tab.fill("Username or e-mail address", "ann")
            tab.fill("Password", PASSWORD)
        tab.press("Sign in")
        with pictured(tab, "authorize"):
            tab.see("Let Phanpy in?", "Signed in as @ann")
        tab.press("Authorize")


def read_home(tab: Tab) -> None:
    with pictured(tab, "home"):
        tab.see("The tide is low", "#harbour", "Bob")


def see_a_notification_of_the_stream(phanpy: PhanpyAtTideline) -> None:
    """Phanpy asks for notifications only if it knows an older one, and it has read none yet."""

    def mention() -> bool:
        # No home timeline shows it.
        text = "@ann Seals on the sandbank"
        send_as_bob(phanpy, "statuses", "POST", status=text, visibility="direct")
        return is_soon_there(phanpy.tab, ".notifications-button.has-badge")

    with pictured(phanpy.tab, "notification"):
        until(mention)


def send_as_bob(phanpy: PhanpyAtTideline, path: str, method: str, **status: str) -> None:
    bob = User.objects.get(username="bob").pk
    send(phanpy.address, bob, path, status, method)


def is_soon_there(tab: Tab, selector: str) -> bool:
    with suppress(AssertionError):
        tab.expect(tab.find(selector).first).to_be_visible(timeout=SOON_MS)
        return True
    return False


def publish_a_post(tab: Tab) -> None:
    tab.click("#compose-button")
    tab.type_into("#compose-container textarea", "The boats are out")
    tab.click("#compose-container button[type=submit]")
    tab.see("Post published")
    tab.open("/")
    with pictured(tab, "own-post"):
        tab.see("The boats are out", "The tide is low")


def look_at_a_profile(tab: Tab) -> None:
    tab.click(".timeline .name-text:has-text('Bob')")
    with pictured(tab, "profile"):
        tab.see("@bob", "Follows you", "1 Follower")
    tab.type_key("Escape")


def search_for_a_person(tab: Tab) -> None:
    tab.type_key("/")
    tab.type_into("#search-command-container input", "bob")
    tab.type_key_into("#search-command-container input", "Enter")
    with pictured(tab, "search"):
        tab.expect(tab.find(".accounts-list")).to_contain_text("@bob")


def read_notifications(tab: Tab) -> None:
    tab.open("/")
    tab.click(".notifications-button")
    with pictured(tab, "notifications"):
        tab.expect(tab.find(".notifications-menu")).to_contain_text("Seals on the sandbank")
    tab.type_key("Escape")


def see_an_edit_of_the_stream(phanpy: PhanpyAtTideline, post: PostId) -> None:
    """Phanpy reads a post that it shows only once, and connects again after each load of a page."""
    turns = count(1)

    def edit() -> bool:
        text = f"{TEXT}, edit {next(turns)}"
        send_as_bob(phanpy, f"statuses/{post.public}", "PUT", status=text)
        return is_soon_there(phanpy.tab, ".timeline .status-link:has-text(', edit ')")

    with pictured(phanpy.tab, "edit"):
        until(edit)


def favourite_a_post(tab: Tab, post: PostId) -> None:
    tab.click(".timeline .status-link:has-text('The tide is low')")
    tab.click(".status-deck .favourite-button")
    with pictured(tab, "favourite"):
        tab.expect(tab.find(".status-deck .favourite-button.checked")).to_have_count(1)
    ann = Caller(User.objects.get(username="ann").pk)
    until(lambda: ann.get(f"/api/v1/statuses/{post.public}").json()["favourited"])
