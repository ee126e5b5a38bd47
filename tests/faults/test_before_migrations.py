"""Processes that start before migrate_shards: not ready, never an error of their own."""

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import psycopg
import pytest
from django.urls import URLPattern, get_resolver
from redis import Redis

from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST
from tests.deployment import Deployment, deployment_on, prepared
from tests.services import private_services
from tests.waiting import until

PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")
WAITING = "Waiting until the databases are ready: default has no identity: run migrate_shards\n"
HEALTHY = ("default", "shard0", "shard2", "shard3", "redis", "images")
LACKS = "shard1 lacks migration markers.0001_initial: run migrate_shards"
UNAPPLY = "DELETE FROM django_migrations WHERE app = 'markers' AND name = '0001_initial'"
APPLY = "INSERT INTO django_migrations (app, name, applied) VALUES ('markers','0001_initial',now())"


@pytest.fixture
def empty() -> Iterator[Deployment]:
    """Servers whose databases have no tables."""
    with private_services(shard_count=2) as services:
        yield deployment_on(services, {})


@pytest.fixture(scope="module")
def site() -> Iterator[Deployment]:
    """Servers with databases of this version."""
    with prepared({}) as deployment:
        yield deployment


@contextmanager
def started(site: Deployment, *names: str) -> Iterator[dict[str, Child]]:
    argv = {
        "web": ["-m", "web", "--port", str(site.port), "--linger", "0"],
        "worker": ["manage.py", "run_drainer"],
        "compensator": ["manage.py", "compensate_changes", "--every", "0.5"],
    }
    children = {
        name: Child(
            name, [sys.executable, *argv[name]], site.logs / f"{name}.log", site.environment
        )
        for name in names
    }
    with ExitStack() as stack:
        for child in children.values():
            stack.callback(child.stop)
            child.begin()
        yield children


def ask(site: Deployment, method: str, path: str, token: str = "t") -> tuple[int, str]:
    connection = http.client.HTTPConnection(HOST, site.port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if method == "GET" else "{}"
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, text


def ready(site: Deployment) -> tuple[int, dict[str, str]]:
    try:
        status, text = ask(site, "GET", "/health/ready")
    except OSError:
        return 0, {}
    return status, json.loads(text)["stores"]


def all_paths(patterns: list[object], prefix: str = "") -> Iterator[str]:
    """A path of each route, with 1 for each parameter."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            path = PARAMETER.sub("1", route)
            yield "/" + re.sub(r"[\\^$?]|\(.*?\)", "", path)
        else:
            yield from all_paths(pattern.url_patterns, route)


def test_every_route_is_not_ready_and_never_an_error(empty):
    paths = sorted(set(all_paths(get_resolver().url_patterns)))
    with started(empty, "web", "worker", "compensator") as children:
        until(lambda: ready(empty)[0], said=children["web"].log.read_text)
        status, stores = ready(empty)
        assert status == 503
        reasons = {alias: f"{alias} has no identity: run migrate_shards" for alias in stores}
        assert stores == reasons | {"redis": "ok", "images": "ok"}
        answers = {
            (method, path): ask(empty, method, path) for path in paths for method in ("GET", "POST")
        }
        odd = {where: found for where, found in answers.items() if found[0] in (500, 502)}
        assert odd == {}
        assert answers["GET", "/api/v1/timelines/home"][0] == 503
        for name in ("worker", "compensator"):
            until(children[name].log.read_text)
        migrate(empty)
        until(lambda: ready(empty)[0] == 200, said=lambda: ready(empty))
        assert ask(empty, "GET", "/api/v1/timelines/home")[0] == 401
        for name in ("worker", "compensator"):
            assert children[name].is_running
            assert children[name].log.read_text().startswith(WAITING)
        assert "Traceback" not in children["web"].log.read_text()
        until(lambda: "workers     NONE" not in show_status(empty).stdout)
    for name in ("worker", "compensator"):
        said = children[name].log.read_text()
        assert "Traceback" not in said
        assert "does not exist" not in said


def test_shard_that_lacks_a_migration_is_not_used_until_it_has_it(site):
    """New code on the old schema of one shard: 503 for its accounts, and for the balancer."""
    # Neighbouring ids are on different shards.
    tokens = site.sign_up(*(f"name{number}" for number in range(4)))
    Redis.from_url(site.environment["REDIS_URL"]).flushdb()
    with psycopg.connect(site.shard_urls[1], autocommit=True) as shard:
        shard.execute(UNAPPLY)
        with started(site, "web") as children:
            until(lambda: ready(site)[0], said=children["web"].log.read_text)
            status, stores = ready(site)
            others = dict.fromkeys(HEALTHY, "ok")
            assert (status, stores) == (503, others | {"shard1": LACKS})
            assert sorted(map(partial(read_own, site), tokens)) == [200, 200, 200, 503]
            assert show_status(site).returncode == 1
            shard.execute(APPLY)
            until(lambda: ready(site)[0] == 200, said=lambda: ready(site))
            assert [read_own(site, token) for token in tokens] == [200] * 4
            assert "Traceback" not in children["web"].log.read_text()


def test_pages_in_redis_are_not_served_without_the_databases(site):
    """The databases are new, but Redis still has the pages of an account of older ones."""
    [token] = site.sign_up("ann")
    with started(site, "web") as children:
        until(lambda: ready(site)[0] == 200, said=children["web"].log.read_text)
        assert read_own(site, token) == 200
    for url in (site.default_url, *site.shard_urls):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE new")
    names = ("DATABASE_URL", "SHARD_DATABASE_URLS")
    new = {name: site.environment[name].replace("/tideline?", "/new?") for name in names}
    renewed = replace(site, environment={**site.environment, **new})
    with started(renewed, "web") as children:
        until(lambda: ready(renewed)[0] == 503, said=children["web"].log.read_text)
        assert read_own(renewed, token) == 503
        migrate(renewed)
        assert read_own(renewed, token) != 503


def read_own(site: Deployment, token: str) -> int:
    return ask(site, "GET", "/api/v1/accounts/verify_credentials", token)[0]


def migrate(site: Deployment) -> None:
    site.manage("migrate_shards", "--verbosity", "0")


def show_status(site: Deployment) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "show_status"]
    return subprocess.run(
        command, env=site.environment, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
