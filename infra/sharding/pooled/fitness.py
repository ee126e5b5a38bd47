"""Whether a pool and its role can serve web servers. Each process asks once for each database."""

from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.errors import PoolUnfit

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
