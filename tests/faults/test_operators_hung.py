"""A store hangs: what operators look at answers soon, names the store, and shows the others."""

import http.client
import json
import subprocess
import sys
import time
from typing import NamedTuple

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts.models import User
from infra.sharding.shards import all_aliases
from lab.runner.port import HOST
from tests.callers import sign_in
from tests.faults.hung_world import environment_of, serving
from tests.integration.config.test_page_security import pages
from tests.server_faults import hanging
from tests.waiting import until
from tests.world import make_accounts

# deploy/prometheus/scrape.yml: scrape_timeout.
SCRAPE_S = 10.0
# For each page; a crowded machine needs longer. A page that waits for the store has no end.
PAGE_S = 10.0
# With the start of the program.
STATUS_S = 20.0
PATIENCE_S = 60.0
STORES = ["shard1", "default", "redis"]


class Page(NamedTuple):
    status: int
    took_s: float
    content: str


class Browser:
    """`cookie`: of a session."""

    def __init__(self, port: int, cookie: str) -> None:
        self._port, self._headers = port, {"Cookie": f"sessionid={cookie}"}

    def get(self, path: str) -> Page:
        began_s = time.monotonic()
        connection = http.client.HTTPConnection(HOST, self._port, timeout=PATIENCE_S)
        connection.request("GET", path, headers=self._headers)
        answer = connection.getresponse()
        content = answer.read().decode(errors="replace")
        connection.close()
        return Page(answer.status, time.monotonic() - began_s, content)


@pytest.fixture(scope="module")
def web(private, tmp_path_factory):
    """The port of a web server."""
    environment = environment_of(private.environment() | {"REDIS_TIMEOUT_MS": "250"})
    with serving(environment, tmp_path_factory.mktemp("web") / "web.log") as port:
        yield port


@pytest.fixture
def browser(services, web):
    """Signed in as a superuser. The web server has found that all stores answer."""
    signed_in = Client()
    boss = User.objects.create(username="boss", is_staff=True, is_superuser=True)
    sign_in(signed_in, boss)
    browser = Browser(web, signed_in.cookies["sessionid"].value)
    until(lambda: is_well(browser), said=lambda: browser.get("/health/ready"))
    return browser


def is_well(browser):
    shown = browser.get("/health/ready")
    return shown.status == 200 and json.loads(shown.content)["status"] == "ok"


def paths_of(accounts):
    account, other = accounts[:2]
    searches = [
        reverse("find_account", args=[account]),
        reverse("find_edge", args=[account, other]),
        reverse("home_timeline", args=[account]),
        reverse("operations"),
        reverse("operations_charts"),
        reverse("operations_now"),
        reverse("parked_changes"),
    ]
    return [*pages(), *searches]


@pytest.mark.parametrize("store", STORES)
def test_pages_are_shown_or_refused_soon(services, browser, store):
    paths = paths_of(make_accounts(8))
    whole = {path: browser.get(path).status for path in paths}
    assert 500 not in whole.values(), whole
    with hanging(server_of(services, store)):
        shown = {path: browser.get(path) for path in paths}
    wrong = {
        path: page[:2]
        for path, page in shown.items()
        if page.status not in (whole[path], 503) or page.took_s > PAGE_S
    }
    assert wrong == {}


@pytest.mark.parametrize("store", STORES)
def test_metrics_and_health_name_it(services, browser, store):
    with hanging(server_of(services, store)):
        page = until(lambda: scrape_that_names(browser, store))
        ready = browser.get("/health/ready")
    up = {alias for alias in all_aliases() if f'up{{shard="{alias}"}} 1.0' in page.content}
    assert up == {*all_aliases()} - {store}
    assert f"tideline_redis_up {float(store != 'redis')}" in page.content
    assert ready.status == (503 if store == "default" else 200)
    assert f'"{store}":"hangs"' in ready.content
    assert ready.took_s < PAGE_S


def scrape_that_names(browser, store):
    """The metrics, if this store and no other is down there. What was just found is shown again."""
    page = browser.get("/metrics")
    assert (page.status, page.took_s < SCRAPE_S) == (200, True), page.took_s
    down = {alias for alias in all_aliases() if f'up{{shard="{alias}"}} 0.0' in page.content}
    down |= {"redis"} if "tideline_redis_up 0.0" in page.content else set()
    return page if down == {store} else None


@pytest.mark.parametrize("store", STORES)
def test_the_status_screen_names_it(services, store):
    began_s = time.monotonic()
    with hanging(server_of(services, store)):
        ended = subprocess.run(
            [sys.executable, "manage.py", "show_status"],
            env=environment_of(services.environment()),
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
        )
    assert time.monotonic() - began_s < STATUS_S
    assert ended.returncode == 1
    line = next(line for line in ended.stdout.splitlines() if line.split()[:1] == [store])
    assert "DOWN: " in line
    assert "Traceback" not in ended.stderr


def server_of(services, store):
    return services.redis if store == "redis" else services.postgres[store]
