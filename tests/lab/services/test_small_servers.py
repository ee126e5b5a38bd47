"""The servers of `make run` log little, and accounts move between their shards. Also those of
Python wheels, which lack lz4, start so."""

import os
from functools import partial

import psycopg
import pytest

from lab.runner.installation import throw_away_installation
from lab.services import Search, running_services, throw_away_services

WHEELS, MACHINE = Search("", ()), Search(os.environ["PATH"])
SHOWN = """
SELECT setting FROM pg_settings WHERE name IN ('full_page_writes', 'fsync', 'wal_compression')
ORDER BY name
"""
MOVE = ("moves", "start", "--from", "shard0", "--to", "shard1", "--share", "1/4")


@pytest.mark.parametrize("search", [WHEELS, MACHINE], ids=["wheels", "machine"])
def test_pages_in_the_log_are_whole_and_compressed(search: Search) -> None:
    start = partial(running_services, durable=True, shard_count=1, search=search)
    with throw_away_services(start) as services:
        for server in services.postgres.values():
            with psycopg.connect(server.url) as connection:
                values = [value for (value,) in connection.execute(SHOWN)]
            assert values == ["on", "on", "pglz"]


@pytest.mark.parametrize("search", [WHEELS, MACHINE], ids=["wheels", "machine"])
def test_the_commands_of_the_how_to_move_accounts(search: Search) -> None:
    start = partial(running_services, durable=True, shard_count=2, search=search)
    with throw_away_services(start) as services:
        site = throw_away_installation(services, {})
        site.manage("migrate_shards", "--verbosity", "0")
        for words in (MOVE, ("moves", "undo"), MOVE, ("moves", "complete")):
            site.manage(*words)
        assert "complete completed (finished)" in site.manage("moves", "show")
