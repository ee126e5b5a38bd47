"""Each transaction on a pool asks whether its shard knows a later bucket map than the caller.

A move ends the sessions of its source, so that processes connect again and learn of the new map. A
client of a pool notices nothing of that. So its transactions ask themselves, in the round trip of
their first statement. A move waits for transactions that asked before the shard knew.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from psycopg import Cursor
from psycopg.pq import PipelineStatus, TransactionStatus

from infra.moving import AccountMoving, oldest_epoch
from infra.sharding.bounded.moved_rows import LATER_MAP
from infra.sharding.buckets import current_map

# No row is the usual answer. A row cannot be cast, and the server runs no statement after it.
CHECK = f"""
SELECT ('{LATER_MAP} ' || map_epoch || ' of ' || alias)::integer FROM sharding_databaseidentity
WHERE map_epoch > %s OR alias <> %s
"""  # noqa: S608
ANY_EPOCH = 2**31 - 1


def check_map_first(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs the statement. Raises AccountMoving before it if the caller may have an old map.

    Cost: no round trip; a short statement for the first one of a transaction.
    """
    wrapper = context["connection"]
    session = wrapper.connection
    if session.pgconn.transaction_status != TransactionStatus.IDLE:
        return execute(sql, params, many, context)
    is_open = session.pgconn.pipeline_status != PipelineStatus.OFF
    known = oldest_epoch()
    try:
        with wrapper.wrap_database_errors, nullcontext() if is_open else session.pipeline():
            epoch = known if known >= 0 else ANY_EPOCH
            Cursor(session).execute(CHECK, (epoch, wrapper.alias))
            return execute(sql, params, many, context)
    except AccountMoving:
        current_map()  # the next call of this process must not fail for it, too
        raise
