"""Raw statements are prepared, and a migration that changes their columns costs one call."""

from collections.abc import Iterator

import pytest
from django.db import OperationalError, connections, transaction

from infra.sharding.bounded.plans import PREPARED_AFTER
from infra.sharding.sql import Statement, execute, fetch_all, fetch_one, fetch_pipelined

ALIAS = "shard0"
READ = "SELECT name FROM changing WHERE id = %s"
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"


@pytest.fixture
def changing(world: None) -> Iterator[None]:
    execute(ALIAS, "CREATE TABLE changing (id bigint PRIMARY KEY, name varchar(5))")
    execute(ALIAS, "INSERT INTO changing VALUES (1, 'ann')")
    yield
    execute(ALIAS, "DROP TABLE changing")


def make_wider() -> None:
    """As a migration does, in a session of its own."""
    other = connections[ALIAS].copy()
    with other.cursor() as cursor:
        cursor.execute("ALTER TABLE changing ALTER COLUMN name TYPE text")
    other.close()


def read_often() -> None:
    calls = PREPARED_AFTER + 1
    assert [fetch_all(ALIAS, READ, (1,)) for _ in range(calls)] == [[("ann",)]] * calls


def test_a_statement_is_prepared_after_some_calls(changing: None) -> None:
    read_often()
    assert fetch_one(ALIAS, PREPARED, ("SELECT name FROM changing%",)) == (1,)


def test_a_wider_column_costs_one_call(changing: None) -> None:
    read_often()
    make_wider()
    with pytest.raises(OperationalError, match="try again"):
        fetch_all(ALIAS, READ, (1,))
    read_often()


@pytest.mark.parametrize("is_pipelined", [False, True])
def test_a_wider_column_costs_one_transaction(changing: None, is_pipelined: bool) -> None:
    read_often()
    make_wider()
    with pytest.raises(OperationalError, match="try again"), transaction.atomic(using=ALIAS):
        if is_pipelined:
            fetch_pipelined(ALIAS, [Statement("SELECT 1"), Statement(READ, (1,))])
        else:
            fetch_all(ALIAS, READ, (1,))
    with transaction.atomic(using=ALIAS):
        assert fetch_pipelined(ALIAS, [Statement(READ, (1,))] * 2) == [[("ann",)]] * 2
