"""Two products on one installation: what one has is absent for the other."""

import http.client
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from subprocess import CalledProcessError

import psycopg
import pytest
from redis import Redis

from lab.runner.child import CHECKOUT, Child
from lab.runner.port import HOST, free_port
from lab.runner.programs import streaming_child
from lab.services.process_tree import process_tree
from tests.deployment import deployment_on
from tests.services import private_services
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow
OWN, SHOP, HARBOR = "feed.example.org", "shop.example.org", "harbor.example.org"
SCOPES = ("service:accounts", "service:read", "service:write", "service:relations")


class Sites:
    """An installation with a front, seen from outside."""

    def __init__(self, deployment, streaming_port):
        self.installation = deployment
        self.port = free_port()
        behind = [f"{HOST}:{deployment.port}", f"{HOST}:{streaming_port}"]
        command = ["-m", "web.front", "--port", str(self.port), "--web", behind[0]]
        self.front = Child(
            "front",
            [sys.executable, *command, "--streaming", behind[1]],
            deployment.logs / "front.log",
            deployment.environment,
            signal.SIGTERM,
        )

    def ask(self, host, path, token=None, body=None, method=None):
        """The status, the headers and the bytes of the answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        headers = {"Host": host} | ({"Authorization": f"Bearer {token}"} if token else {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, data, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def json(self, *asked, **options):
        status, _, content = self.ask(*asked, **options)
        assert status == 200, content
        return json.loads(content)

    def status(self, *asked, **options):
        try:
            return self.ask(*asked, **options)[0]
        except OSError:
            return None

    def wait_for(self, host, status=200):
        until(lambda: self.status(host, "/api/v1/instance") == status, said=self.log)

    def log(self):
        return self.front.log.read_text()[-5_000:]

    def manage(self, *words):
        return self.installation.manage("tenants", *words)

    def refusal(self, *words):
        command = [sys.executable, "manage.py", "tenants", *words]
        done = subprocess.run(
            command, env=self.installation.environment, cwd=CHECKOUT, capture_output=True, text=True
        )
        assert done.returncode == 1, done.stdout
        return done.stderr.removeprefix("CommandError: ").strip()

    def token_of(self, tenant):
        """Of a service that may act for each account of the tenant."""
        scopes = [word for scope in SCOPES for word in ("--scope", scope)]
        said = self.manage("run", tenant, "services", "create", "Backend", *scopes)
        return said.split()[-1]

    def make_person(self, host, token, username):
        """The id of a new account."""
        path = f"/api/v1/services/accounts/{username}"
        body = {"username": username}
        return self.json(host, path, token, body, method="PUT")["account_id"]

    def children(self, words):
        return [pid for pid in process_tree(self.front.pid)[1:] if words in _command_line(pid)]


def _command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().replace("\0", " ")
    except FileNotFoundError:
        return ""


@pytest.fixture(scope="module")
def sites():
    settings = {"ALLOWED_HOSTS": f"{OWN},localhost,{HOST}", "PUBLIC_URL": f"http://{OWN}"}
    with private_services(shard_count=1) as services:
        deployment = deployment_on(services, settings)
        deployment.migrate()
        port = free_port()
        streaming = streaming_child(deployment.logs, deployment.environment, port)
        sites = Sites(deployment, port)
        with deployment.running("/health/live"):
            streaming.begin()
            sites.front.begin()
            sites.wait_for(OWN)
            try:
                yield sites
            finally:
                sites.front.stop()
                streaming.stop()


@pytest.fixture(scope="module")
def shop(sites):
    """A token of the shop's own service."""
    said = sites.manage("create", "shop", "--host", SHOP)
    assert f"shop is served at http://{SHOP}" in said
    sites.wait_for(SHOP)
    return sites.token_of("shop")


@contextmanager
def heard(sites, host, token):
    """The lines of the public stream, as they come."""
    connection = http.client.HTTPConnection(HOST, sites.port, timeout=PATIENCE_S)
    headers = {"Host": host, "Authorization": f"Bearer {token}"}
    connection.request("GET", "/api/v1/streaming/public", headers=headers)
    answer = connection.getresponse()
    assert answer.status == 200
    yield answer
    connection.close()


def test_an_unknown_host_is_refused(sites, shop):
    assert sites.status("other.example.org", "/api/v1/instance") == 421
    assert sites.status(OWN, "/api/v1/instance") == 200


def test_what_one_has_is_absent_for_the_other(sites, shop):
    """The same names, other tokens; and a foreign id answers byte for byte as an absent one."""
    [own_token] = sites.installation.sign_up("ann")
    told = sites.json(OWN, "/api/v1/statuses", own_token, {"status": "A secret of #feed"})["id"]
    other_ann = sites.make_person(SHOP, shop, "ann")
    assert sites.json(SHOP, "/api/v1/accounts/lookup?acct=ann")["id"] == other_ann
    for host, token in ((OWN, shop), (SHOP, own_token)):
        assert sites.status(host, "/api/v1/timelines/home", token) == 401
        assert sites.status(host, "/api/v1/streaming/user", token) == 401
    absent = str(int(told) - 4_000_000)
    for path in ("", "/context", "/favourited_by", "/history", "/card"):
        answers = [sites.ask(SHOP, f"/api/v1/statuses/{post}{path}") for post in (told, absent)]
        assert answers[0][0] == answers[1][0] == 404
        assert answers[0][2] == answers[1][2]
    assert sites.json(SHOP, "/api/v1/timelines/public") == []
    assert sites.json(SHOP, "/api/v2/search?q=secret")["statuses"] == []
    assert sites.json(SHOP, "/api/v1/timelines/tag/feed") == []
    own = sites.json(OWN, f"/api/v1/statuses/{told}")
    assert own["url"].startswith(f"http://{OWN}/")
    links = sites.json(SHOP, f"/api/v1/accounts/{other_ann}")
    assert links["url"] == f"http://{SHOP}/@ann"


def test_what_happens_at_one_is_heard_there_alone(sites, shop):
    [bob] = sites.installation.sign_up("bob")
    sites.make_person(SHOP, shop, "cyd")
    with heard(sites, OWN, bob) as own, heard(sites, SHOP, shop) as foreign:
        acting = "/api/v1/statuses"
        sites.json(OWN, acting, bob, {"status": "Here", "visibility": "public"})
        said = b""
        while b"Here" not in said:
            said += own.readline()
        sites.manage("suspend", "shop")
        left = foreign.read()
        assert b"Here" not in left
    sites.wait_for(SHOP, 403)
    sites.manage("resume", "shop")
    sites.wait_for(SHOP)


def test_processes_come_back_and_end_with_the_front(sites, shop):
    until(lambda: len(sites.children("web.front.site")) >= 5)
    site = min(sites.children("web.front.site"))
    children = list(process_tree(site)[1:])
    os.kill(children[0], signal.SIGKILL)
    until(lambda: children[0] not in process_tree(site) and len(process_tree(site)) >= 5)
    sites.wait_for(SHOP)
    os.kill(site, signal.SIGKILL)
    until(lambda: sites.children("web.front.site") and site not in process_tree(sites.front.pid))
    sites.wait_for(SHOP)
    before = sites.children("web.front.site")
    sites.front.kill()
    until(lambda: not any(_command_line(pid) for pid in before))
    sites.front.begin()
    sites.wait_for(SHOP)


def test_other_hosts(sites, shop):
    new = "market.example.org"
    sites.manage("change", "shop", "--host", new)
    sites.wait_for(new)
    until(lambda: sites.json(new, "/api/v1/instance")["uri"] == new)
    assert sites.status(SHOP, "/api/v1/instance") == 421
    sites.manage("change", "shop", "--host", SHOP)
    until(lambda: sites.status(new, "/api/v1/instance") == 421)
    sites.wait_for(SHOP)


KILLING = """
import os, signal, sys
import django
from django.core.management import call_command
django.setup()
from infra.changes.failpoints import arm
place, nth, *words = sys.argv[1:]
left = [int(nth)]
def act():
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
arm(place, act)
call_command("tenants", *words)
"""


def kill_at(sites, place, nth, *words):
    with pytest.raises(CalledProcessError) as raised:
        sites.installation.run("-c", KILLING, place, str(nth), *words)
    assert raised.value.returncode == -signal.SIGKILL


def databases(sites, name):
    """Of the tenant, on all servers."""
    count = 0
    for url in (sites.installation.default_url, *sites.installation.shard_urls):
        with psycopg.connect(url) as connection:
            sql = "SELECT count(*) FROM pg_database WHERE datname LIKE %s"
            count += connection.execute(sql, (f"%\\_\\_{name}",)).fetchall()[0][0]
    return count


def test_creation_and_deletion_are_killed_and_go_on(sites, shop, tmp_path):
    create = ("create", "harbor", "--host", HARBOR)
    kill_at(sites, "tenants.database_created", 1, *create)
    sites.wait_for(HARBOR, 503)
    kill_at(sites, "tenants.migrated", 1, *create)
    sites.manage(*create)
    sites.wait_for(HARBOR)
    token = sites.token_of("harbor")
    sites.make_person(HARBOR, token, "dora")
    redis = Redis.from_url(sites.installation.environment["REDIS_URL"])
    own_keys = redis.dbsize()
    sites.manage("suspend", "harbor")
    folder = tmp_path / "export"
    sites.manage("export", "harbor", str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    listed = json.loads((folder / "tenant.json").read_text())["files"]
    assert listed.keys() == {"default.dump", "shard0.dump"}
    assert all((folder / name).stat().st_size == listed[name]["bytes"] for name in listed)
    assert sites.refusal("export", "harbor", str(folder)).endswith("has an export already.")
    delete = ("delete", "harbor", "--yes")
    kill_at(sites, "tenants.counted", 1, *delete)
    assert sites.refusal("resume", "harbor") == "The tenant harbor is deleting."
    kill_at(sites, "tenants.dropped", 1, *delete)
    kill_at(sites, "tenants.images_counted", 1, *delete)
    said = sites.manage(*delete)
    certificate = json.loads(said[said.index("{") :])
    assert databases(sites, "harbor") == 0
    assert certificate["databases"].keys() == {"default", "shard0"}
    rows = [each["rows"].get("accounts_account", 0) for each in certificate["databases"].values()]
    assert sum(rows) == 1, "also what earlier calls had deleted is on it"
    assert redis.dbsize() >= own_keys > 0, "the installation's own keys stay"
    assert json.loads(sites.manage(*delete)) == certificate
    sites.wait_for(HARBOR, 421)
    assert sites.refusal(*create).endswith("already: it is deleted.")
    assert sites.status(SHOP, "/api/v1/instance") == 200
