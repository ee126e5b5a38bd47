"""The state of one database now, also whether it takes writes.

PostgreSQL does not say how full its disk is. It answers reads, and refuses a write only when it
needs a new page. So the question makes it write a temporary file: no row, no lock, no log.
"""

import time
from typing import NamedTuple

from django.db import DatabaseError, InterfaceError

from infra.sharding.readiness import require_ready
from infra.sharding.sql import execute
from infra.store_states import SLOW_S, StoreState, state_of

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
