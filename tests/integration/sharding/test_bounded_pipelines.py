"""A breaker that opens in the middle of a pipeline leaves no connection with an open pipeline.

In such a connection the next statement would be answered, and never committed.
"""

from typing import ClassVar

import psycopg
import pytest
from django.db import connections

from infra.sharding.bounded.limits import LimitedConnection


class SwitchedLimit:
    """Refuses waits while `is_open`."""

    is_open = False

    def check(self) -> None:
        if self.is_open:
            raise psycopg.OperationalError("open")

    def first_look_s(self) -> float:
        return 30.0

    def look(self, waited_s: float) -> None:
        raise psycopg.OperationalError("too long")


class SwitchedConnection(LimitedConnection):
    limit: ClassVar = SwitchedLimit()


def connect() -> SwitchedConnection:
    parameters = connections["shard0"].get_connection_params()
    wanted = {n: parameters[n] for n in ("host", "port", "user", "dbname") if n in parameters}
    return SwitchedConnection.connect(**wanted, autocommit=True)


def test_breaker_that_opens_in_a_pipeline_closes_the_connection(world):
    connection = connect()
    with pytest.raises(psycopg.Error), connection.pipeline():
        connection.execute("SELECT 1")
        SwitchedConnection.limit.is_open = True
    SwitchedConnection.limit.is_open = False
    with pytest.raises(psycopg.OperationalError, match="the connection is closed"):
        connection.execute("SELECT 1")


def test_breaker_that_opens_in_an_empty_pipeline_closes_the_connection(world):
    connection = connect()
    with pytest.raises(psycopg.Error), connection.pipeline():
        SwitchedConnection.limit.is_open = True
    SwitchedConnection.limit.is_open = False
    with pytest.raises(psycopg.OperationalError, match="the connection is closed"):
        connection.execute("SELECT 1")


def test_breaker_that_is_open_before_a_statement_leaves_the_connection(world):
    with connect() as connection:
        SwitchedConnection.limit.is_open = True
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        SwitchedConnection.limit.is_open = False
        assert connection.execute("SELECT 2").fetchone() == (2,)
