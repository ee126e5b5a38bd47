"""A process that adds a shard is killed at each step. The next run goes on."""

import json
import subprocess
import sys
from functools import partial

import pytest

from lab.faults.cluster.with_failpoints import EXIT_CODE, VARIABLE
from lab.runner.child import CHECKOUT
from tests.moving import repeating
from tests.scenarios.added_shard import (
    INDEX,
    NEW,
    Person,
    create_database,
    rows,
    site_for_a_shard,
)
from tests.waiting import until

# Between the steps of shards add, in order, and within the last one.
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
    with site_for_a_shard(tmp_path) as site:
        yield site


def begin_to_add(site, *arm, armed):
    command = [sys.executable, *arm, "manage.py", "shards", "add", NEW]
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
    """What steps of shards add write. The drain writes into a shard that is on the list, too."""
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
                said = site.manage("shards", "add", NEW, "--dry-run")
                assert ("on the list already" if number >= 2 else "can be added") in said
                assert state_of(site, url) == before
                assert before[0] == ([(NEW,)] if number >= 2 else [])
                assert before[3] == [], "no reader takes the index for complete"
            assert "shard4 is ready" in site.manage("shards", "add", NEW)
        assert errors == []
        site.wait_until_drained()
        until(lambda: not rows(url, "SELECT 1 FROM changes_change LIMIT 1"))
        assert rows(url, INDEX) == rows(site.shard_urls[1], INDEX)
        assert rows(url, TABLES) == rows(site.shard_urls[1], TABLES)
        assert rows(url, MARK) != []
        site.manage("moves", "start", "--from", "shard0", "--to", NEW, "--share", "1")
        site.manage("moves", "complete")
