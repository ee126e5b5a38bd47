"""What a client of a pool may not say, with or without a PgBouncer at hand."""

import pytest
from django.apps import apps
from django.db import connections

from config.environment import Environment
from infra.sharding.functions import functions_of
from infra.sharding.pooled.session_state import USES, needs_session


@pytest.mark.parametrize(
    "sql",
    [
        "SET jit = off",
        "  set session statement_timeout = 0",
        "RESET ALL",
        "DISCARD ALL",
        "PREPARE named AS SELECT 1",
        "EXECUTE named",
        "DEALLOCATE named",
        "LISTEN changes",
        "UNLISTEN *",
        "LOAD 'auto_explain'",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_lock_shared (1)",
        "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_advisory_unlock_all()",
        "SELECT set_config('idle_session_timeout', '0', false)",
        "SELECT lastval()",
        "CREATE TEMPORARY TABLE a (b int)",
        "DECLARE a CURSOR WITH HOLD FOR SELECT 1",
    ],
)
def test_what_lasts_longer_than_a_transaction(sql):
    assert needs_session(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SET LOCAL statement_timeout = '1s'",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "SELECT pg_advisory_xact_lock(1)",
        "SELECT pg_try_advisory_xact_lock(1)",
        "SELECT set_config('tideline.move', '1', true)",
        "UPDATE settings SET value = %s",
        "INSERT INTO a (text) VALUES (%s)",
    ],
)
def test_what_ends_with_its_transaction(sql):
    assert not needs_session(sql)


def test_functions_of_the_database_need_no_session():
    texts = [functions_of(label) for label in ("accounts", "counters", "posts", "relations")]
    assert [found[0] for text in texts if (found := USES.search(text))] == []
    assert apps.get_app_config("posts")


def test_a_pooled_connection_sends_no_parameters_at_its_start():
    """A pool refuses `options`; with ignore_startup_parameters they would be missing silently."""
    shard = connections["shard0"].copy()
    direct = shard.get_connection_params()
    assert "statement_timeout" in direct["options"]
    url = "postgresql://tideline_web@127.0.0.1:6432/shard0"
    shard.settings_dict = shard.settings_dict | Environment().pooled("a pool", url, {"USER": "own"})
    pooled = shard.get_connection_params()
    assert {"options", "is_pooled"} & {*pooled} == set()
    assert (pooled["user"], pooled["port"]) == ("tideline_web", 6432)
