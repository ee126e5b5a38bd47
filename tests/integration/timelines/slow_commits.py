"""Commits that take long, as on a disk that is busy: what they write is visible only then."""

from collections.abc import Iterator
from contextlib import contextmanager

from infra.sharding.sql import execute

SLEEP = """
CREATE FUNCTION sleep_at_commit() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$
"""
AT_COMMIT = """
CREATE CONSTRAINT TRIGGER sleep_at_commit AFTER UPDATE ON {table}
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION sleep_at_commit()
"""


@contextmanager
def slow_commits(alias: str, table: str, seconds: float) -> Iterator[None]:
    """Each transaction that updates a row of the table takes so much longer to commit."""
    execute(alias, SLEEP.format(seconds=seconds))
    execute(alias, AT_COMMIT.format(table=table))
    try:
        yield
    finally:
        execute(alias, "DROP FUNCTION sleep_at_commit CASCADE")
