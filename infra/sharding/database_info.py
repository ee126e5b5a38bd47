"""Facts about each database, for operators who look at all databases at once.

The state of one database now, also whether it takes writes.

PostgreSQL does not say how full its disk is. It answers reads, and refuses a write only when it
needs a new page. So the question makes it write a temporary file: no row, no lock, no log.
"""

import time
from typing import NamedTuple

from django.apps import apps
from django.db import DatabaseError, InterfaceError, connections

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.readiness import require_ready
from infra.sharding.replicas import read_replica_states
from infra.sharding.sql import execute, fetch_one
from infra.store_states import SLOW_S, StoreState, state_of

INFO = """
SELECT split_part(current_setting('server_version'), ' ', 1),
    pg_database_size(current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
    current_setting('max_connections')::int
"""
# -1 rows: ANALYZE has never read the table.
ROW_ESTIMATE = "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(%s)"
CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"


class DatabaseInfo(NamedTuple):
    """`account_count`: an estimate, or None. `clock_offset_s`: the database's clock minus ours.

    `place`: host, port and name. `replicas`: their states in words, by alias.
    """

    alias: str
    place: str
    server_version: str
    account_count: int | None
    size_bytes: int
    connection_count: int
    most_connections: int
    clock_offset_s: float
    replicas: dict[str, str]


def read_database_info(alias: str) -> DatabaseInfo:
    """Cost: five short statements, and two for each replica. Raises: the errors in UNREACHABLE."""
    row = fetch_one(alias, INFO)
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    version, size_bytes, used, most = row
    accounts, offset_s = estimate_accounts(alias), read_clock_offset(alias)
    replicas = {name: state.words for name, state in read_replica_states(alias).items()}
    place = address_of_database(alias)
    return DatabaseInfo(alias, place, version, accounts, size_bytes, used, most, offset_s, replicas)


def estimate_accounts(alias: str) -> int | None:
    """Accounts at the last ANALYZE. None on the default database, and before the first ANALYZE."""
    if alias == GLOBAL_ALIAS:
        return None
    # Looked up by name, because accounts is a higher floor.
    table = apps.get_model("accounts", "Account")._meta.db_table
    row = fetch_one(alias, ROW_ESTIMATE, (table,))
    return row[0] if row and row[0] >= 0 else None


def read_clock_offset(alias: str) -> float:
    """Seconds that the database's clock is ahead of ours, correct to half a round trip.

    Returns the result of the quickest of three round trips, which is the most exact one.
    """
    return min((_measure_clock(alias) for _ in range(3)), key=lambda pair: pair[0])[1]


def address_of_database(alias: str) -> str:
    """Host, port and name of the database, without the password."""
    settings = connections[alias].settings_dict
    port = f":{settings['PORT']}" if settings["PORT"] else ""
    return f"{settings['HOST'] or 'localhost'}{port}/{settings['NAME']}"


def _measure_clock(alias: str) -> tuple[float, float]:
    """The duration of the round trip and the clock's offset, both in seconds."""
    before_s = time.time()
    row = fetch_one(alias, CLOCK)
    after_s = time.time()
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    return after_s - before_s, row[0] - (before_s + after_s) / 2


# One statement, so one round trip. The set of numbers does not fit into the memory that it gets.
TRY_TO_WRITE = """
DO $$ BEGIN
    IF current_setting('transaction_read_only')::boolean THEN
        RAISE read_only_sql_transaction USING MESSAGE = 'the server is read-only';
    END IF;
    PERFORM set_config('work_mem', '64kB', true);
    PERFORM count(*) FROM generate_series(1, 20000);
END $$
"""


class DatabaseState(NamedTuple):
    """`why`: what the database, or the check of it, said; empty while it is usable."""

    state: StoreState
    why: str = ""


def read_database_state(alias: str) -> DatabaseState:
    """Never raises an error of the database. Cost: two round trips, 3 ms of the database."""
    began_s = time.monotonic()
    try:
        require_ready(alias)
        execute(alias, TRY_TO_WRITE)
    except (DatabaseError, InterfaceError) as error:
        return DatabaseState(state_of(error), str(error).partition("\n")[0])
    is_slow = time.monotonic() - began_s > SLOW_S
    return DatabaseState(StoreState.SLOW if is_slow else StoreState.OK)
