"""The migration of the index for quiet followers, run again where its build was cut off."""

from importlib import import_module

import pytest
from django.conf import settings

from infra.sharding.sql import execute, fetch_all

MIGRATION = import_module("relations.migrations.0003_quiet_followers")
STATE = """
SELECT indexrelid, indisvalid FROM pg_index WHERE indexrelid = to_regclass('backward_quiet')
"""
CUT_OFF = """
UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('backward_quiet')
"""


def run_again(alias: str) -> None:
    for statement in (MIGRATION.DROP_UNFINISHED, MIGRATION.CREATE):
        execute(alias, statement, ())


@pytest.fixture
def alias(world: None) -> str:
    return str(settings.SHARD_ALIASES[0])


def test_an_index_that_is_whole_is_kept(alias: str) -> None:
    before = fetch_all(alias, STATE, ())
    run_again(alias)
    assert fetch_all(alias, STATE, ()) == before
    assert [is_valid for _, is_valid in before] == [True]


def test_an_index_whose_build_was_cut_off_is_replaced(alias: str) -> None:
    ((unfinished, _),) = fetch_all(alias, STATE, ())
    execute(alias, CUT_OFF, ())
    run_again(alias)
    ((index, is_valid),) = fetch_all(alias, STATE, ())
    assert is_valid
    assert index != unfinished
