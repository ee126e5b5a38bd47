"""The mark of a shard's index: from which second on it is complete. No mark: nobody reads it."""

from infra.sharding.sql import execute, fetch_one

FIND = "SELECT complete_from FROM timelines_recentreach"
CLAIM = """
INSERT INTO timelines_recentreach (id, complete_from) VALUES (1, %s)
ON CONFLICT (id) DO UPDATE SET complete_from = LEAST(
    timelines_recentreach.complete_from, EXCLUDED.complete_from)
"""
RAISE = "UPDATE timelines_recentreach SET complete_from = %s WHERE complete_from < %s"


def find_low_water_mark(alias: str) -> int | None:
    """The mark, a second since the product's epoch. One query."""
    row = fetch_one(alias, FIND)
    return None if row is None else int(row[0])


def lower_low_water_mark(alias: str, complete_from: int) -> None:
    """Says that the index is complete from this second on. It has to be true."""
    execute(alias, CLAIM, (complete_from,))


def delete_low_water_mark(alias: str) -> None:
    """Says that the index is not to be read."""
    execute(alias, "DELETE FROM timelines_recentreach")


def raise_low_water_mark(alias: str, complete_from: int) -> None:
    """Says that rows from before this second may go."""
    execute(alias, RAISE, (complete_from, complete_from))
