"""URLs that lead to a wrong database are refused at start, and nothing is written there."""

import subprocess
import sys
from collections.abc import Iterator, Mapping

import psycopg
import pytest

from lab.runner.child import CHECKOUT
from tests.deployment import Deployment, prepared
from tests.waiting import PATIENCE_S

# Rows of all tables of a database, counted one by one.
COUNTS = """
SELECT relname, (xpath('/row/c/text()',
    query_to_xml(format('SELECT count(*) AS c FROM %I', relname), false, true, '')))[1]::text
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname
"""
OTHER = "UPDATE sharding_databaseidentity SET installation = %s"
STARTS = {
    "web": ["-m", "web", "--port", "0"],
    "worker": ["manage.py", "run_drainer"],
    "compensator": ["manage.py", "compensate_changes", "--every", "2"],
    "job": ["manage.py", "audit", "edges"],
    "migration": ["manage.py", "migrate_shards"],
    "checks": ["manage.py", "shards", "check"],
}


@pytest.fixture(scope="module")
def site() -> Iterator[Deployment]:
    with prepared({}) as deployment:
        yield deployment


def swapped(site: Deployment) -> dict[str, str]:
    first, second, *others = site.shard_urls
    return {"SHARD_DATABASE_URLS": ",".join([second, first, *others])}


def without_last(site: Deployment) -> dict[str, str]:
    return {"SHARD_DATABASE_URLS": ",".join(site.shard_urls[:-1])}


def without_first(site: Deployment) -> dict[str, str]:
    return {"SHARD_DATABASE_URLS": ",".join(site.shard_urls[1:])}


def shard_as_default(site: Deployment) -> dict[str, str]:
    return {"DATABASE_URL": site.shard_urls[2]}


WRONG = {
    swapped: ["SHARD_DATABASE_URLS[0] must be the URL of shard0; it leads to the database shard1"],
    without_last: ["SHARD_DATABASE_URLS lacks shard3: it has 3 URLs only"],
    without_first: ["SHARD_DATABASE_URLS lacks shard0", "it leads to the database shard1"],
    shard_as_default: ["DATABASE_URL must be the URL of default; it leads to the database shard2"],
}
OTHERS = (without_last, without_first, shard_as_default)


def start(site: Deployment, words: list[str], urls: Mapping[str, str]) -> tuple[int, str]:
    """The exit code and all that it printed."""
    ended = subprocess.run(
        [sys.executable, *words],
        env={**site.environment, **urls},
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return ended.returncode, ended.stdout


def count_rows(site: Deployment) -> list[dict[str, str]]:
    counts = []
    for url in (site.default_url, *site.shard_urls):
        with psycopg.connect(url) as connection:
            counts.append(dict(connection.execute(COUNTS).fetchall()))
    return counts


@pytest.mark.parametrize(
    ("mistake", "name"),
    # All processes call the same check, so one of them is enough for the other mistakes.
    [*((swapped, name) for name in STARTS), *((other, "checks") for other in OTHERS)],
)
def test_wrong_urls_are_refused_by_every_process(site, mistake, name):
    before = count_rows(site)
    code, said = start(site, STARTS[name], mistake(site))
    assert code == 1, said
    assert "Traceback" not in said
    reasons = WRONG[mistake]
    assert any(reason in said for reason in reasons), said
    assert count_rows(site) == before


def test_database_of_another_installation_is_refused(site):
    other = "00000000-0000-4000-8000-000000000000"
    with psycopg.connect(site.shard_urls[1], autocommit=True) as connection:
        [(own,)] = connection.execute("SELECT installation FROM sharding_databaseidentity")
        connection.execute(OTHER, (other,))
        try:
            code, said = start(site, STARTS["checks"], {})
        finally:
            connection.execute(OTHER, (own,))
    assert code == 1, said
    reason = "SHARD_DATABASE_URLS[1] must be the URL of shard1; it leads to shard1 of the"
    assert f"{reason} installation {other}, not of {own}" in said
    assert "Traceback" not in said


def test_database_of_another_program_is_not_migrated(site):
    with psycopg.connect(site.shard_urls[1], autocommit=True) as connection:
        connection.execute("CREATE DATABASE bookshop")
    url = site.shard_urls[1].replace("/tideline?", "/bookshop?")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE book (id int)")
    urls = {"SHARD_DATABASE_URLS": ",".join([*site.shard_urls, url])}
    code, said = start(site, STARTS["migration"], urls)
    assert (code, "Traceback" in said) == (1, False), said
    assert "SHARD_DATABASE_URLS[4] leads to a database of another program: it has the" in said
    with psycopg.connect(url) as connection:
        assert [name for name, _ in connection.execute(COUNTS)] == ["book"]


def test_right_urls_are_accepted_and_an_appended_one_is_new(site):
    with psycopg.connect(site.shard_urls[1], autocommit=True) as connection:
        connection.execute("CREATE DATABASE fifth")
    url = site.shard_urls[1].replace("/tideline?", "/fifth?")
    urls = {"SHARD_DATABASE_URLS": ",".join([*site.shard_urls, url])}
    code, said = start(site, STARTS["job"], urls)
    assert (code, said.strip()) == (1, "shard4 has no identity: run migrate_shards")
    assert start(site, STARTS["migration"], urls)[0] == 0
    for name in ("job", "checks"):
        code, said = start(site, STARTS[name], urls)
        assert code == 0, said
