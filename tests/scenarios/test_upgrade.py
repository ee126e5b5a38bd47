"""docs/how-to/upgrade.md, from one version to the next, while people read and write.

The commands are those that the document names. Nobody may lose a post, an old process works on the
new schema, and it calls the new functions.

Two throw-away versions of Tideline, as tags of a throw-away repository.

The first is this checkout with what is not committed yet. The second is made as a released version
is made (decision 0036): one more migration, with a column and the whole text of a changed function.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg
import pytest
from django.core.management import get_commands

from infra.processes.free_ports import free_ports
from infra.version import VERSION
from lab.runner.child import CHECKOUT
from lab.runner.installation import THROW_AWAY_KEY
from lab.runner.port import HOST, is_answering
from lab.runner.programs import app_environment, web_command, worker_command
from lab.services.spawn import spawn
from tests.services import private_services
from tests.waiting import PATIENCE_S, until

NEXT = "9.9.9"
# Every write of an account calls it. The old one only locks.
FUNCTION = """
CREATE OR REPLACE FUNCTION accounts_lock(account bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounts_account SET write_count = write_count + 1 WHERE id = account;
    RETURN FOUND;
END $$;
"""
COLUMN = "ALTER TABLE accounts_account ADD COLUMN write_count bigint NOT NULL DEFAULT 0;\n"
MIGRATION = '''"""Counts the writes of each account."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "{before}")]
    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix(".sql").read_text(),
            migrations.RunSQL.noop,
            hints={{"placement": "sharded"}},
        )
    ]
'''


class Versions(NamedTuple):
    """The folders of both, next to each other."""

    old: Path
    new: Path


def make_versions(folder: Path) -> Versions:
    """Commits and tags both versions in `folder`, and checks each out. Cost: 3 s."""
    repository = folder / "repository"
    _copy_checkout(repository)
    _git(repository, "init", "--quiet")
    _tag(repository, "old")
    _change(repository)
    _tag(repository, "new")
    return Versions(_checked_out(repository, "old"), _checked_out(repository, "new"))


def _copy_checkout(target: Path) -> None:
    for name in _git(CHECKOUT, "ls-files", "--cached", "-z").split("\0"):
        if name and not name.startswith(("tests/", "docs/")) and (CHECKOUT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, target / name)


def _change(checkout: Path) -> None:
    """Makes the second version of the first."""
    version = checkout / "infra/version.py"
    version.write_text(re.sub(r'VERSION = ".*"', f'VERSION = "{NEXT}"', version.read_text()))
    migrations = checkout / "accounts/migrations"
    last = max(file.stem for file in migrations.glob("[0-9]*.py"))
    added = migrations / f"{int(last[:4]) + 1:04}_write_counts.py"
    added.write_text(MIGRATION.format(before=last))
    added.with_suffix(".sql").write_text(COLUMN + FUNCTION)


def _tag(repository: Path, name: str) -> None:
    person = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    _git(repository, "add", "--all", "--force")
    _git(repository, *person, "commit", "--quiet", "--no-verify", "--message", name)
    _git(repository, "tag", name)


def _checked_out(repository: Path, tag: str) -> Path:
    folder = repository.with_name(tag)
    _git(repository, "worktree", "add", "--quiet", str(folder), tag)
    for module in folder.rglob("*.py"):
        _share_compiled(CHECKOUT / module.relative_to(folder), module)
    return folder


def _share_compiled(ours: Path, theirs: Path) -> None:
    """Python compiles a module once for each time of its last change, here for two versions."""
    compiled = Path(cache_from_source(str(ours)))
    if compiled.exists() and ours.read_bytes() == theirs.read_bytes():
        shutil.copystat(ours, theirs)
        Path(cache_from_source(str(theirs))).parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, cache_from_source(str(theirs)))


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("git") is None or not (CHECKOUT / ".git").exists(), reason="not a git checkout"
    ),
]
PAGE = (CHECKOUT / "docs/how-to/upgrade.md").read_text()
PASSWORD = "a-long-secret-word"
SCOPES = {"scopes": "read write follow"}
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
WRITES = "SELECT coalesce(sum(write_count), 0) FROM accounts_account"


def commands_of_step(number: int) -> list[str]:
    """The commands of manage.py that a step of the document names, in its order."""
    step = re.split(r"^\d+\. ", PAGE, flags=re.MULTILINE)[number].partition("\n\n")[0]
    named = re.findall(r"`(?:manage\.py )?([\w -]+)`", step)
    return [name for name in named if name.split()[0] in get_commands()]


class Site:
    """An installation with two web servers, a worker and a compensator."""

    def __init__(self, environment: Mapping[str, str], ports: list[int], logs: Path) -> None:
        self.environment = environment
        self.logs = logs
        self.webs = {f"web{port}": port for port in ports}
        self._commands = {name: web_command(port, 0.2) for name, port in self.webs.items()}
        self._commands["worker"] = worker_command()
        self._commands["compensator"] = ["manage.py", "compensate_changes", "--every", "2"]
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def manage(self, version: Path, *words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=version, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def restart(self, version: Path, name: str) -> None:
        """With the code of this version. Returns when a web server is ready."""
        self.stop(name)
        log = self.logs / f"{name}-{version.name}.log"
        command = [sys.executable, *self._commands[name]]
        self._running[name] = spawn(command, log, env=self.environment, cwd=version)
        if name in self.webs:
            until(lambda: is_answering(self.webs[name], "/health/ready"), said=log.read_text)

    def start(self, version: Path) -> None:
        """A web server is ready when there is a worker."""
        for name in reversed(self._commands):
            self.restart(version, name)

    def restart_all(self, version: Path) -> None:
        """Step 3 of the document: web servers one by one, workers and compensators last."""
        for name in self._commands:
            self.restart(version, name)

    def stop(self, name: str) -> None:
        if name in self._running:
            self._running[name].terminate()
            self._running[name].wait(PATIENCE_S)

    def close(self) -> None:
        for name in self._running:
            self.stop(name)

    def count_writes(self) -> int:
        """The writes that the new function has counted on all shards."""
        counts = []
        for url in self.environment["SHARD_DATABASE_URLS"].split(","):
            with psycopg.connect(url) as connection:
                counts += connection.execute(WRITES).fetchall()
        return sum(int(count) for (count,) in counts)


class Client:
    """A new person's client. `web`: the server that it asks."""

    def __init__(self, site: Site, web: str, name: str) -> None:
        self.site = site
        self._token = ""
        app = self.ask(web, "/api/v1/apps", client_name="Test", redirect_uris=OUT_OF_BAND, **SCOPES)
        keys = {key: app[key] for key in ("client_id", "client_secret")}
        asked = {"grant_type": "client_credentials", "scope": SCOPES["scopes"]}
        self._token = self.ask(web, "/oauth/token", **keys, **asked)["access_token"]
        person = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
        person |= {"agreement": "true", "locale": "en"}
        self._token = self.ask(web, "/api/v1/accounts", **person)["access_token"]

    def ask(self, web: str, path: str, **form: str) -> Any:
        """The answer's JSON. Raises HTTPError."""
        url = f"http://{HOST}:{self.site.webs[web]}{path}"
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = Request(url, urlencode(form).encode() if form else None, headers)
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def publish(self, web: str, text: str) -> str:
        return str(self.ask(web, "/api/v1/statuses", status=text)["id"])

    def home(self, web: str) -> list[str]:
        return [status["id"] for status in self.ask(web, "/api/v1/timelines/home")]


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return make_versions(tmp_path)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        services = stack.enter_context(private_services(2))
        ports = free_ports(2)
        urls = {**services.environment(), "RUNTIME_DIR": str(tmp_path / "run")}
        site = Site(app_environment(urls, THROW_AWAY_KEY, ports[0]), ports, tmp_path)
        stack.callback(site.close)
        yield site


def test_an_upgrade_keeps_all_data_and_no_server_stops_before_its_turn(
    site: Site, versions: Versions
) -> None:
    first, second = site.webs
    for command in commands_of_step(2):
        site.manage(versions.old, *command.split())
    site.start(versions.old)
    ann, bob = Client(site, first, "ann"), Client(site, first, "bob")
    [found] = bob.ask(first, "/api/v1/accounts/search?q=ann")
    bob.ask(first, f"/api/v1/accounts/{found['id']}/follow", reblogs="true")
    posts = [ann.publish(first, "before the upgrade")]

    for command in commands_of_step(2):
        site.manage(versions.new, *command.split())
    posts.append(ann.publish(second, "old code, new schema"))
    assert site.count_writes() > 0  # old code calls the new function

    site.restart(versions.new, first)
    assert _version(bob, first) == NEXT and _version(bob, second) == VERSION
    posts += [ann.publish(first, "new web server"), ann.publish(second, "old web server")]
    until(lambda: bob.home(second) == posts[::-1] == bob.home(first), said=lambda: bob.home(first))

    site.restart_all(versions.new)
    posts.append(ann.publish(second, "all is new"))
    until(lambda: bob.home(second) == posts[::-1], said=lambda: bob.home(second))
    for command in commands_of_step(4):
        site.manage(versions.new, *command.split())
    assert _version(bob, second) == NEXT

    site.restart(versions.old, first)  # the way back
    posts.append(ann.publish(first, "old code again"))
    until(lambda: bob.home(first) == posts[::-1], said=lambda: bob.home(first))
    assert ann.ask(first, f"/api/v1/accounts/{found['id']}")["statuses_count"] == len(posts)


def test_the_document_names_the_commands() -> None:
    assert commands_of_step(2) == [
        *("migrate_shards", "backfill recent-posts", "tenants migrate", "shards check")
    ]
    assert commands_of_step(4) == ["show_status"]


def _version(client: Client, web: str) -> str:
    return str(client.ask(web, "/nodeinfo/2.0")["software"]["version"])
