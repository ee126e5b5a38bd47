"""The low-water mark of a shard's recent-posts index: the second from which on it is complete.

Without a mark no process reads the index.
"""

from infra.sharding.sql import execute, fetch_one

FIND = "SELECT complete_from FROM timelines_lowwatermark"
LOWER = """
INSERT INTO timelines_lowwatermark (id, complete_from) VALUES (1, %s)
ON CONFLICT (id) DO UPDATE SET complete_from = LEAST(
    timelines_lowwatermark.complete_from, EXCLUDED.complete_from)
"""
RAISE = "UPDATE timelines_lowwatermark SET complete_from = %s WHERE complete_from < %s"


def find_low_water_mark(alias: str) -> int | None:
    """The mark, in seconds since the product's epoch. One query."""
    row = fetch_one(alias, FIND)
    return None if row is None else int(row[0])


def lower_low_water_mark(alias: str, complete_from: int) -> None:
    """Sets the mark to this second, unless it is lower. The index must be complete from there."""
    execute(alias, LOWER, (complete_from,))


def raise_low_water_mark(alias: str, complete_from: int) -> None:
    """Raises the mark to this second, so that earlier rows may be dropped."""
    execute(alias, RAISE, (complete_from, complete_from))


def delete_low_water_mark(alias: str) -> None:
    """Makes the index unreadable."""
    execute(alias, "DELETE FROM timelines_lowwatermark")
