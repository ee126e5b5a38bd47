"""What a database says of itself, for people who look at all of them."""

import time
from typing import NamedTuple

from django.db import connections

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.replica_lag import read_log_position
from infra.sharding.replicas import replica_of
from infra.sharding.sql import fetch_one

INFO = """
SELECT split_part(current_setting('server_version'), ' ', 1),
    pg_database_size(current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
    current_setting('max_connections')::int
"""
# The table is named, not imported: it belongs to a higher floor. -1: never analysed.
ACCOUNTS = "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass('accounts_account')"
CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"


class DatabaseInfo(NamedTuple):
    """Of one database. `account_count`: an estimate, or None. `clock_offset_s`: its clock less
    ours. `replica`: how it is, in words, or None."""

    alias: str
    place: str
    server_version: str
    account_count: int | None
    size_bytes: int
    connection_count: int
    most_connections: int
    clock_offset_s: float
    replica: str | None


def read_database_info(alias: str) -> DatabaseInfo:
    """Five short statements, and one on the replica. Raises: what UNREACHABLE lists."""
    row = fetch_one(alias, INFO)
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    version, size_bytes, used, most = row
    accounts, offset_s = estimate_accounts(alias), read_clock_offset(alias)
    place, replica = address_of(alias), describe_replica(alias)
    return DatabaseInfo(alias, place, version, accounts, size_bytes, used, most, offset_s, replica)


def estimate_accounts(alias: str) -> int | None:
    """As ANALYZE last knew it; None on the default database, and where ANALYZE never was."""
    if alias == GLOBAL_ALIAS:
        return None
    row = fetch_one(alias, ACCOUNTS)
    return row[0] if row and row[0] >= 0 else None


def read_clock_offset(alias: str) -> float:
    """Seconds the database's clock is ahead of ours, to half the round trip. One round trip.

    The best of three: what a round trip takes longer is not its clock's fault.
    """
    return min((_measure_clock(alias) for _ in range(3)), key=lambda pair: pair[0])[1]


def address_of(alias: str) -> str:
    """Where it is, without the password."""
    settings = connections[alias].settings_dict
    port = f":{settings['PORT']}" if settings["PORT"] else ""
    return f"{settings['HOST'] or 'localhost'}{port}/{settings['NAME']}"


def describe_replica(alias: str) -> str | None:
    """`used, 0 bytes behind`, `left alone`; None without one. Never raises for the replica."""
    replica = replica_of(alias)
    if replica is None:
        return None
    if not replica.check():
        return "left alone"
    behind = read_log_position(alias).log - read_log_position(replica.alias).log
    return f"used, {max(behind, 0):,} bytes behind"


def _measure_clock(alias: str) -> tuple[float, float]:
    """How long it took, and the offset."""
    before_s = time.time()
    row = fetch_one(alias, CLOCK)
    after_s = time.time()
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    return after_s - before_s, row[0] - (before_s + after_s) / 2
