"""A whole installation behind pools: its web server has none of the sessions of the databases."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.deployment import deployment_on
from tests.pgbouncer import ROLE, running_pgbouncer
from tests.services import migrated_services
from tests.waiting import until

pytestmark = pytest.mark.slow
SIZE, CLIENTS = 2, 24
ROLES = "SELECT usename, count(*) FROM pg_stat_activity WHERE usename IS NOT NULL GROUP BY 1"
PATHS = ["/api/v1/timelines/home?limit=40", "/api/v2/search?q=ann", "/api/v1/timelines/public"]


def test_web_servers_share_the_sessions_of_the_pools(pgbouncer):
    with migrated_services() as services, running_pgbouncer(pgbouncer, services, SIZE) as pools:
        deployment = deployment_on(services, pools)
        with deployment.running("/health/live"):
            ann, bob = deployment.sign_up("ann", "bob")
            [found] = ask(deployment, ann, "/api/v2/search?q=bob&type=accounts")["accounts"]
            ask(deployment, ann, f"/api/v1/accounts/{found['id']}/follow", {})
            posted = ask(deployment, bob, "/api/v1/statuses", {"status": "hello"})["id"]
            until(lambda: posted in ids(ask(deployment, ann, PATHS[0])))
            with ThreadPoolExecutor(CLIENTS) as threads:
                for path in PATHS:
                    threads.map(lambda _, path=path: ask(deployment, ann, path), range(CLIENTS))
            counts = [count_roles(server.url) for server in services.postgres.values()]
    assert all(0 < count.get(ROLE, 0) <= SIZE for count in counts), counts
    assert all(count["tideline"] > 1 for count in counts), "workers connect directly"


def ids(statuses):
    return [status["id"] for status in statuses]


def ask(deployment, token, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{deployment.address}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def count_roles(url):
    with psycopg.connect(url) as connection:
        return dict(connection.execute(ROLES).fetchall())
