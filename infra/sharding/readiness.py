"""Whether the databases can be used: each is the right one and has the schema of this code.

Newer migrations than this code knows are fine, because migrations only add (expand and contract).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.migrations.loader import MigrationLoader

from infra.sharding.buckets import list_missing_shards
from infra.sharding.errors import DatabaseUnusable, SchemaMissing, UnmappedBucket, WrongDatabase
from infra.sharding.identity import read_identity
from infra.sharding.placement import GLOBAL_ALIAS, is_known
from infra.sharding.probe import DEADLINE_S, ProbeAnswer, probe_all
from infra.sharding.shards import all_aliases

APPLIED = "SELECT app, name FROM django_migrations"
REMEDY = "run migrate_shards"
POLL_S = 0.2
# Aliases that this process found in order once. A database never loses what was checked.
_ready: set[str] = set()


def was_ready(alias: str) -> bool:
    """Whether this process has found the database in order before. No query."""
    return alias in _ready


def require_ready(alias: str) -> None:
    """Returns if the database answers and can be used.

    Raises: WrongDatabase, SchemaMissing, UnmappedBucket; OperationalError when it does not answer.
    Cost: one round trip; two or three more until the first success in this process.
    """
    connection = connections[alias]
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with connection.wrap_database_errors:
        _check(connection)


def refuse_unready_database(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created. Closes a connection to a database that is not ready.

    The web server is never without it, so no request meets a missing table. Raises: as above.
    """
    if is_known(connection.alias):
        try:
            _check(connection)
        except BaseException:
            connection.close()
            raise


@contextmanager
def requiring_ready() -> Iterator[None]:
    """In the block, this process opens no connection to a database that is not ready."""
    connection_created.connect(refuse_unready_database, dispatch_uid=__name__)
    try:
        yield
    finally:
        connection_created.disconnect(dispatch_uid=__name__)


def wait_until_ready(pause: Callable[[float], bool], say: Callable[[str], object]) -> bool:
    """Returns when all databases that answer are ready; False if `pause` returns False.

    `say` gets one line at most. Raises WrongDatabase: waiting would not help.
    """
    is_said = False
    while unusable := list_unusable():
        _raise_wrong(unusable)
        if not is_said:
            say(f"Waiting until the databases are ready: {unusable[0]}")
            is_said = True
        if not pause(POLL_S):
            return False
    return True


def list_unusable() -> list[DatabaseUnusable]:
    """Why databases that answer cannot be used. Those that do not answer are left out.

    No query for databases that were in order before.
    """
    unchecked = [alias for alias in all_aliases() if alias not in _ready]
    # The default database first: the installation of the shards is compared with its own.
    first, others = unchecked[:1], unchecked[1:]
    answers = _probe(first, DEADLINE_S) | _probe(others, DEADLINE_S)
    return [
        answer.error for answer in answers.values() if isinstance(answer.error, DatabaseUnusable)
    ]


def refuse_wrong_databases() -> None:
    """Raises WrongDatabase with all URLs that lead to a wrong database, one a line.

    So do shards that the bucket map has and the settings lack. A database without the schema
    passes, because it may be new.
    """
    _raise_wrong(list_unusable())


def refuse_unusable_databases() -> None:
    """Raises DatabaseUnusable with all reasons, one a line. Databases that do not answer pass."""
    if unusable := list_unusable():
        raise DatabaseUnusable("\n".join(map(str, unusable)))


def _raise_wrong(unusable: Iterable[DatabaseUnusable]) -> None:
    wrong = [error for error in unusable if not isinstance(error, SchemaMissing)]
    if wrong:
        raise WrongDatabase("\n".join(map(str, wrong)))


def _probe(aliases: Iterable[str], deadline_s: float) -> dict[str, ProbeAnswer]:
    calls: dict[str, Callable[[], Any]] = {
        alias: partial(require_ready, alias) for alias in aliases
    }
    return probe_all(calls, deadline_s)


def _check(connection: BaseDatabaseWrapper) -> None:
    if connection.alias in _ready:
        return
    if read_identity(connection) is None:
        raise SchemaMissing(f"{connection.alias} has no identity: {REMEDY}")
    applied = set(connection.connection.execute(APPLIED).fetchall())
    if lacking := sorted(_needed_migrations() - applied):
        app, name = lacking[0]
        raise SchemaMissing(f"{connection.alias} lacks migration {app}.{name}: {REMEDY}")
    if connection.alias == GLOBAL_ALIAS and (missing := list_missing_shards()):
        raise UnmappedBucket(missing[0])
    _ready.add(connection.alias)


def schema_of_code() -> list[str]:
    """The last migration of each app, as texts in a fixed order."""
    return sorted(f"{app}.{name}" for app, name in _needed_migrations())


@cache
def _needed_migrations() -> frozenset[tuple[str, str]]:
    """The last migration of each app. Cost: loads all migrations, 0.1 s."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.leaf_nodes())
