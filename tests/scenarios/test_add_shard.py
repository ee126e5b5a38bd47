"""A shard is added to a site that runs, and accounts move to it. No process is started again."""

import json
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from subprocess import CalledProcessError
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg
import pytest

from lab.faults.cluster.with_failpoints import EXIT_CODE, VARIABLE
from lab.runner.child import CHECKOUT
from lab.services import running_services, throw_away_services
from tests.deployment import deployment_on
from tests.migrated_data import provide_migrated_data
from tests.moving import LOGICAL, repeating
from tests.waiting import until

pytestmark = pytest.mark.slow
INDEX = "SELECT author_id, moment FROM timelines_recentpost ORDER BY 1, 2"
NEW = "shard4"
QUOTAS = dict.fromkeys(("QUOTA_PER_ACCOUNT", "QUOTA_PER_ADDRESS"), "1000000")
# Between the steps of add_shard, in order, and within the last one.
PLACES = (
    "add_shard.migrated",
    "add_shard.listed",
    "add_shard.told",
    "recent_posts.backfilled",
)
HAS_TABLES = "SELECT to_regclass('sharding_databaseidentity') IS NOT NULL"
ADDED = "SELECT alias FROM sharding_shard"
EPOCH = "SELECT map_epoch FROM sharding_databaseidentity"
TABLES = """
SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1
"""
MARK = "SELECT complete_from FROM timelines_lowwatermark"


@pytest.fixture
def site(tmp_path):
    """Servers that can move buckets, a database for a fifth shard, and a folder with its URL."""
    start = partial(running_services, durable=False, postgres_settings=LOGICAL)
    folder = tmp_path / "shards"
    folder.mkdir()
    with throw_away_services(start, prepare=provide_migrated_data) as services:
        site = deployment_on(services, QUOTAS | {"SHARD_URLS_DIR": str(folder)})
        site.folder = folder
        # On the server of another shard than the one that gives accounts.
        site.server_url = services.postgres["shard1"].url
        yield site


def create_database(site, name):
    with psycopg.connect(site.server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url_of(site, name)


def url_of(site, name):
    before, _, after = site.server_url.partition("?")
    return f"{before.rpartition('/')[0]}/{name}{f'?{after}' if after else ''}"


def refusal(site, capfd, name=NEW):
    with pytest.raises(CalledProcessError):
        site.manage("add_shard", name)
    return capfd.readouterr().err


@contextmanager
def url_is(site, url):
    (site.folder / NEW).write_text(url)
    yield
    (site.folder / NEW).unlink()


def test_a_wrong_database_is_refused(site, capfd):
    assert "SHARD_URLS_DIR/shard4 cannot be read" in refusal(site, capfd)
    assert "the next shard is shard4: there are 4" in refusal(site, capfd, "shard7")
    assert "shard1 is in SHARD_DATABASE_URLS" in refusal(site, capfd, "shard1")
    with url_is(site, "mysql://localhost/tideline"):
        assert "SHARD_URLS_DIR/shard4: Tideline needs PostgreSQL" in refusal(site, capfd)
    with url_is(site, url_of(site, "nowhere")):
        assert "SHARD_URLS_DIR/shard4: " in (said := refusal(site, capfd))
        assert 'database "nowhere" does not exist' in said
    with url_is(site, site.shard_urls[2]):
        assert "leads to the database shard2" in refusal(site, capfd)
    with url_is(site, site.default_url):
        assert "leads to the database default" in refusal(site, capfd)


def test_a_database_that_is_in_use_is_refused(site, capfd):
    url = create_database(site, "of_others")
    with psycopg.connect(url, autocommit=True) as connection, url_is(site, url):
        assert "shard4 can be added" in site.manage("add_shard", NEW, "--dry-run")
        connection.execute("CREATE TABLE invoices (id int)")
        assert "is in use: it has invoices" in refusal(site, capfd)


class Person:
    """Somebody who posts, and reads their home."""

    def __init__(self, address, token):
        self._address, self._token = address, token
        self.posted = []

    def ask(self, path, body=None):
        data = None if body is None else urlencode(body).encode()
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            with urlopen(Request(f"{self._address}{path}", data, headers), timeout=30) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from error

    def act(self):
        posted = self.ask("/api/v1/statuses", {"status": f"{random.random()}"})
        self.posted.append(posted["id"])
        self.ask("/api/v1/timelines/home")
        time.sleep(0.05)

    def home(self):
        ids, path = set(), "/api/v1/timelines/home?limit=40"
        while page := self.ask(path):
            ids |= {status["id"] for status in page}
            path = f"/api/v1/timelines/home?limit=40&max_id={page[-1]['id']}"
        return ids


def rows(url, sql):
    with psycopg.connect(url) as connection:
        return connection.execute(sql).fetchall()


def test_a_site_that_runs_gets_a_shard_and_moves_accounts_to_it(site):
    """Nothing fails and nothing is missing. Every process learns the shard: the web processes write
    there, and the worker delivers from there."""
    url = create_database(site, "fifth")
    (site.folder / NEW).write_text(url)
    with site.running("/health/live"):
        people = [
            Person(site.address, token) for token in site.sign_up(*(f"person{n}" for n in range(8)))
        ]
        ids = [person.ask("/api/v1/accounts/verify_credentials")["id"] for person in people]
        for person in people:
            for account_id in ids:
                if person is not people[ids.index(account_id)]:
                    person.ask(f"/api/v1/accounts/{account_id}/follow", {})
        site.wait_until_drained()
        with repeating(*(person.act for person in people)) as errors:
            said = site.manage("add_shard", NEW)
            assert "shard4 is ready" in said
            said = site.manage("add_shard", NEW)
            assert "shard4 is on the list already" in said
            before = [len(person.posted) for person in people]
            assert all(before)
            site.manage("move_buckets", "--from", "shard0", "--to", NEW, "--share", "1")
            after = [len(person.posted) for person in people]
            until(
                lambda: errors or all(len(p.posted) > n for p, n in zip(people, after, strict=True))
            )

        assert errors == []
        site.wait_until_drained()
        until(lambda: not rows(url, "SELECT 1 FROM changes_change LIMIT 1"))
        everything = {post for person in people for post in person.posted}
        assert [len(everything - person.home()) for person in people] == [0] * len(people)
        movers = [int(account_id) for account_id in ids if int(account_id) % 4 == 0]
        assert movers
        assert sorted(i for (i,) in rows(url, "SELECT id FROM accounts_account")) == sorted(movers)
        assert rows(url, INDEX) == rows(site.shard_urls[1], INDEX)
        site.manage("complete_move")
        assert rows(site.shard_urls[0], "SELECT count(*) FROM accounts_account") == [(0,)]
        assert rows(url, "SELECT 1 FROM changes_delivered LIMIT 1"), "the worker drains it"
        assert NEW in site.manage("show_shards")


def begin_to_add(site, *arm, armed):
    command = [sys.executable, *arm, "manage.py", "add_shard", NEW]
    environment = {**site.environment, VARIABLE: json.dumps(armed)}
    return subprocess.Popen(command, env=environment, cwd=CHECKOUT)


def die_while_it_migrates(site, url):
    """As soon as there are tables. It may or may not have said yet which database it is."""
    dying = begin_to_add(site, armed={})
    until(lambda: rows(url, HAS_TABLES) == [(True,)])
    dying.kill()
    dying.wait()


def die_at(site, place):
    dying = begin_to_add(
        site, "-m", "lab.faults.cluster.with_failpoints", armed={place: {"do": "exit"}}
    )
    assert dying.wait() == EXIT_CODE, place


def state_of(site, url):
    """What steps of add_shard write. The drain writes into a shard that is on the list, too."""
    epochs = [rows(one, EPOCH) for one in (site.default_url, *site.shard_urls)]
    return rows(site.default_url, ADDED), epochs, rows(url, TABLES), rows(url, MARK)


def test_an_add_that_is_killed_everywhere_goes_on(site):
    """People write all the while. After each death a dry run says what is so, and changes nothing;
    the next run comes a step further."""
    url = create_database(site, "fifth")
    (site.folder / NEW).write_text(url)
    deaths = [partial(die_while_it_migrates, url=url), *(partial(die_at, place=p) for p in PLACES)]
    with site.running("/health/live"):
        people = [Person(site.address, token) for token in site.sign_up("ann", "bob", "cyd")]
        with repeating(*(person.act for person in people)) as errors:
            until(lambda: errors or all(person.posted for person in people))
            for number, die in enumerate(deaths):
                die(site)
                before = state_of(site, url)
                said = site.manage("add_shard", NEW, "--dry-run")
                assert ("on the list already" if number >= 2 else "can be added") in said
                assert state_of(site, url) == before
                assert before[0] == ([(NEW,)] if number >= 2 else [])
                assert before[3] == [], "no reader takes the index for complete"
            assert "shard4 is ready" in site.manage("add_shard", NEW)
        assert errors == []
        site.wait_until_drained()
        until(lambda: not rows(url, "SELECT 1 FROM changes_change LIMIT 1"))
        assert rows(url, INDEX) == rows(site.shard_urls[1], INDEX)
        assert rows(url, TABLES) == rows(site.shard_urls[1], TABLES)
        assert rows(url, MARK) != []
        site.manage("move_buckets", "--from", "shard0", "--to", NEW, "--share", "1")
        site.manage("complete_move")
