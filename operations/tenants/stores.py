"""The databases and the Redis of a tenant, as its installation reaches them.

The statements run in the installation's own databases, so its role must be allowed to create
databases: ALTER ROLE … CREATEDB.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql
from redis import Redis
from redis.exceptions import RedisError

from infra.sharding.shards import all_aliases
from infra.tenant_stores import database_name, own_variables, redis_of
from operations.tenants.models import Tenant
from operations.tenants.types import TenantRefused

# PostgreSQL cuts longer names.
MOST_NAME_BYTES = 63
EXISTS = "SELECT 1 FROM pg_database WHERE datname = %s"
SIZE = "SELECT pg_database_size(datname) FROM pg_database WHERE datname = %s"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = ANY(%s)"
TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1
"""
_WAIT_S = 3.0


def databases_of(name: str) -> dict[str, str]:
    """The name of each database of the tenant, by alias."""
    return {alias: database_name(_own_name(alias), name) for alias in all_aliases()}


def create_database(alias: str, name: str) -> bool:
    """Whether it was absent. Safety: idempotent. Raises: TenantRefused."""
    if has_database(alias, name):
        return False
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name))
    try:
        with _outside_transactions(alias) as session:
            session.execute(create)
    except psycopg.errors.DuplicateDatabase:
        return False
    except psycopg.errors.InsufficientPrivilege as error:
        role = connections[alias].settings_dict["USER"]
        raise TenantRefused(
            f"{alias}: the role {role} may not create databases: ALTER ROLE {role} CREATEDB."
        ) from error
    return True


def drop_database(alias: str, name: str) -> None:
    """Ends its sessions. Safety: idempotent."""
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with _outside_transactions(alias) as session:
        session.execute(drop)


def has_database(alias: str, name: str) -> bool:
    with _outside_transactions(alias) as session:
        return session.execute(EXISTS, (name,)).fetchone() is not None


def size_of_database(alias: str, name: str) -> int:
    """In bytes; 0 if there is none."""
    with _outside_transactions(alias) as session:
        row = session.execute(SIZE, (name,)).fetchone()
    return int(row[0]) if row else 0


def count_sessions(name: str) -> int:
    """Of all databases of the tenant. One query a database."""
    names = databases_of(name)
    counts = []
    for alias in names:
        with _outside_transactions(alias) as session:
            counts.append(_count(session, SESSIONS, ([names[alias]],)))
    return sum(counts)


def count_rows(alias: str, name: str) -> dict[str, int]:
    """Rows of each table that has some. Cost: reads the whole database."""
    with psycopg.connect(**_parameters(alias) | {"dbname": name}) as session:
        tables = [row[0] for row in session.execute(TABLES)]
        counts = {
            table: _count(session, sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
            for table in tables
        }
    return {table: count for table, count in counts.items() if count}


def redis_url(tenant: Tenant) -> str:
    """Of the tenant's own, or of its database in that of the installation."""
    own = own_variables(tenant.name, os.environ).get("REDIS_URL")
    return own or redis_of(settings.REDIS_URL, tenant.number)


def refuse_used_redis(tenant: Tenant) -> None:
    """Raises: TenantRefused, as its first process would empty that database."""
    try:
        keys = count_keys(tenant)
    except RedisError as error:
        raise TenantRefused(
            f"Redis has no database {tenant.number} for it: {error}. Raise `databases` in its"
            f" configuration, or set TENANT_{tenant.name.upper()}__REDIS_URL."
        ) from error
    if keys:
        raise TenantRefused(
            f"The database of Redis for it is not empty: {keys:,} keys. Empty it, or set"
            f" TENANT_{tenant.name.upper()}__REDIS_URL."
        )


def count_keys(tenant: Tenant) -> int:
    """Of its Redis. Raises: RedisError."""
    with _redis(tenant) as client:
        keys: Any = client.dbsize()
        return int(keys)


def empty_redis(tenant: Tenant) -> None:
    """Safety: idempotent. Raises: RedisError."""
    with _redis(tenant) as client:
        client.flushdb()


def dump_environment(alias: str, name: str) -> dict[str, str]:
    """What pg_dump needs to find this database: the variables of libpq."""
    given = _parameters(alias) | {"dbname": name}
    names = {"dbname": "PGDATABASE", "connect_timeout": "PGCONNECT_TIMEOUT"}
    names["target_session_attrs"] = "PGTARGETSESSIONATTRS"
    variables = {names.get(key, f"PG{key.upper()}"): str(given[key]) for key in given}
    return {**os.environ, **variables}


def _own_name(alias: str) -> str:
    return str(connections[alias].settings_dict["NAME"])


def _count(session: Any, statement: Any, parameters: tuple[Any, ...] = ()) -> int:
    return int(session.execute(statement, parameters).fetchone()[0])


@contextmanager
def _redis(tenant: Tenant) -> Iterator[Redis]:
    url = redis_url(tenant)
    client = Redis.from_url(url, socket_timeout=_WAIT_S, socket_connect_timeout=_WAIT_S)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _outside_transactions(alias: str) -> Iterator[Any]:
    """A session of the installation's database. PostgreSQL creates databases in no transaction."""
    with psycopg.connect(**_parameters(alias), autocommit=True) as session:
        yield session


def _parameters(alias: str) -> dict[str, Any]:
    """Without the deadline of statements: creating and counting take longer."""
    given: dict[str, Any] = connections[alias].get_connection_params()
    kept = ("dbname", "user", "password", "host", "port", "connect_timeout", "sslmode")
    more = ("sslrootcert", "sslcert", "sslkey", "target_session_attrs")
    return {name: given[name] for name in (*kept, *more) if name in given}
