"""Web servers connect through pools, and each pooled connection gets its rules.

Each transaction on a pool asks whether its shard knows a later bucket map than the caller.

A move ends the sessions of its source, so that processes connect again and learn of the new map. A
client of a pool notices nothing of that. So its transactions ask themselves, in the round trip of
their first statement. A move waits for transactions that asked before the shard knew.

Refuses statements that would change a session, on connections to a pool.

The pool gives the next transaction another session, and this one to another client. A parameter, a
lock or a statement's name would be there, and be missed here.

Whether a pool and its role can serve web servers. Each process asks once for each database.
"""

import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Cursor
from psycopg.pq import PipelineStatus, TransactionStatus

from infra.moving import AccountMoving, oldest_epoch
from infra.sharding.bounded.moved_rows import LATER_MAP
from infra.sharding.buckets import current_map
from infra.sharding.errors import PoolUnfit, SessionStateRefused
from infra.sharding.placement import GLOBAL_ALIAS

# Run by a name, which a pool that understands names has replaced.
NAME = "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%tideline asks its name%'"
NEEDS_POOL = (
    "needs PgBouncer 1.22 or newer (Debian 12 has 1.18, which cannot) with pool_mode = transaction"
    " and max_prepared_statements above 0"
)
ROLE = """
SELECT pg_has_role('pg_read_all_stats', 'USAGE'), json_object_agg(name, reset_val), current_user
FROM pg_settings WHERE name IN ('jit', 'statement_timeout', 'TimeZone')
"""
# Aliases whose pool was fit when this process asked.
_fit: set[str] = set()


def require_fit(connection: BaseDatabaseWrapper) -> None:
    """Raises: PoolUnfit. Cost: six round trips, once in a process."""
    if connection.alias in _fit:
        return
    with connection.wrap_database_errors:
        _require_names(connection)
        _require_role(connection)
    _fit.add(connection.alias)


def _require_names(connection: BaseDatabaseWrapper) -> None:
    """After DEALLOCATE ALL, which psycopg sends by itself, PgBouncer 1.21 misses what it had."""
    session = connection.connection
    try:
        with session.transaction():
            names = [_ask_name(session)]
            session.execute("DEALLOCATE ALL")
            names.append(_ask_name(session))
    except (
        psycopg.errors.DuplicatePreparedStatement,
        psycopg.errors.InvalidSqlStatementName,
    ) as error:
        raise PoolUnfit(f"the pool of {connection.alias} {NEEDS_POOL}") from error
    if any(name.startswith("_pg3_") for name in names):
        raise PoolUnfit(f"the pooled URL of {connection.alias} {NEEDS_POOL}")


def _ask_name(session: "psycopg.Connection[Any]") -> str:
    row = psycopg.Cursor(session).execute(NAME, prepare=True).fetchone()
    return str(row[0]) if row else ""


def _require_role(connection: BaseDatabaseWrapper) -> None:
    """Raises PoolUnfit with the statements that are missing."""
    reads_all, have, role = connection.connection.execute(ROLE).fetchone()
    limit_ms = min(settings.DATABASE_ANSWER_MS, settings.STATEMENT_TIMEOUT_MS)
    lacks = [] if have["jit"] == "off" else [f"ALTER ROLE {role} SET jit = off"]
    if not 0 < int(have["statement_timeout"]) <= limit_ms:
        lacks.append(f"ALTER ROLE {role} SET statement_timeout = {limit_ms}")
    if have["TimeZone"] != "UTC":
        lacks.append(f"ALTER ROLE {role} SET timezone = 'UTC'")
    if not reads_all:
        lacks.append(f"GRANT pg_read_all_stats TO {role}")
    if lacks:
        statements = "; ".join(lacks)
        raise PoolUnfit(f"the role of the pool of {connection.alias} lacks: {statements}")


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


# Locks and parameters of a transaction end with it, so these are allowed.
COMMANDS = re.compile(
    r"\s*(SET(?!\s+(LOCAL|TRANSACTION|CONSTRAINTS)\b)|RESET|DISCARD|DEALLOCATE|EXECUTE|LOAD"
    r"|PREPARE(?!\s+TRANSACTION\b)|LISTEN|UNLISTEN)\b",
    re.IGNORECASE,
)
USES = re.compile(
    r"\b(pg_(try_)?advisory_(un)?lock(_shared|_all)?\s*\(|(currval|lastval)\s*\("
    r"|set_config\s*\([^;]*,\s*false\s*\)|WITH\s+HOLD\b|CREATE\s+(LOCAL\s+)?TEMP(ORARY)?\b)",
    re.IGNORECASE,
)


def needs_session(sql: str) -> bool:
    """Whether the statement sets or uses something that lasts longer than its transaction."""
    return bool(COMMANDS.match(sql) or USES.search(sql))


def refuse_session_state(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs the statement, or raises SessionStateRefused. Cost: two regular expressions."""
    if needs_session(sql):
        raise SessionStateRefused(f"{sql[:40]!r} on the pool of {context['connection'].alias!r}")
    return execute(sql, params, many, context)


def use_pools() -> None:
    """This process connects by the pooled URLs, where there are any. Before the first connection.

    For web servers only: workers and commands need sessions that stay theirs.
    """
    for alias, entry in settings.POOLED_DATABASES.items():
        connections.databases[alias].update(entry)


def roles_of_pools(alias: str) -> list[str]:
    """The role of the pool of this database, whichever URL this process uses. One at most."""
    entry = settings.POOLED_DATABASES.get(alias)
    return [str(entry["USER"])] if entry else []


def guard_pooled_connection(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Receiver of connection_created. Raises PoolUnfit; the connection is closed then."""
    if not connection.settings_dict["OPTIONS"].get("is_pooled"):
        return
    try:
        require_fit(connection)
    except BaseException:
        connection.close()
        raise
    if refuse_session_state not in connection.execute_wrappers:
        connection.execute_wrappers.append(refuse_session_state)
        if connection.alias != GLOBAL_ALIAS:
            connection.execute_wrappers.append(check_map_first)
