"""What our connections set, on servers whose own settings are PostgreSQL's."""

from django.db import connections

from config.environment import merge_options, session_options
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all, fetch_one

OF_SERVER = """
SELECT name, setting, boot_val FROM pg_settings
WHERE name IN ('max_connections', 'max_parallel_workers', 'shared_buffers', 'wal_level', 'work_mem')
"""


def test_jit_is_off_on_every_connection(world):
    for alias in all_aliases():
        assert fetch_one(alias, "SHOW jit") == ("off",)
        assert fetch_one(alias, "SELECT boot_val, source FROM pg_settings WHERE name = 'jit'") == (
            "on",
            "client",
        )


def test_servers_of_tests_have_stock_settings(world):
    found = {name: (setting, stock) for name, setting, stock in fetch_all("shard0", OF_SERVER)}
    assert len(found) == 5
    del found["shared_buffers"]  # initdb chooses it
    assert [name for name, (setting, stock) in found.items() if setting != stock] == []


def test_server_uses_the_last_value_of_a_parameter(world):
    connection = connections["shard1"].copy()
    ours = {"options": session_options(statement_timeout=20_000)}
    url = {"options": "-c statement_timeout=5s -c work_mem=8MB"}
    connection.settings_dict = connection.settings_dict | {"OPTIONS": merge_options(ours, url)}
    try:
        with connection.cursor() as cursor:
            for name, value in (("statement_timeout", "5s"), ("work_mem", "8MB"), ("jit", "off")):
                cursor.execute(f"SHOW {name}")
                assert cursor.fetchone() == (value,)
    finally:
        connection.close()
