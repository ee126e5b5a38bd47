"""A shard is added to a site that runs, and accounts move to it. No process is started again."""

from contextlib import contextmanager
from subprocess import CalledProcessError

import psycopg
import pytest

from tests.moving import repeating
from tests.scenarios.added_shard import (
    INDEX,
    NEW,
    Person,
    create_database,
    rows,
    site_for_a_shard,
    url_of,
)
from tests.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path):
    with site_for_a_shard(tmp_path) as site:
        yield site


def refusal(site, capfd, name=NEW):
    with pytest.raises(CalledProcessError):
        site.manage("shards", "add", name)
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
        assert "shard4 can be added" in site.manage("shards", "add", NEW, "--dry-run")
        connection.execute("CREATE TABLE invoices (id int)")
        assert "is in use: it has invoices" in refusal(site, capfd)


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
            said = site.manage("shards", "add", NEW)
            assert "shard4 is ready" in said
            said = site.manage("shards", "add", NEW)
            assert "shard4 is on the list already" in said
            before = [len(person.posted) for person in people]
            assert all(before)
            site.manage("moves", "start", "--from", "shard0", "--to", NEW, "--share", "1")
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
        site.manage("moves", "complete")
        assert rows(site.shard_urls[0], "SELECT count(*) FROM accounts_account") == [(0,)]
        assert rows(url, "SELECT 1 FROM changes_delivered LIMIT 1"), "the worker drains it"
        assert NEW in site.manage("shards", "show")
