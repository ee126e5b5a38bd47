"""The guards of a move: triggers on both shards, and a row on each that opens or closes them.

The target is closed from the beginning, the source until the switch. Replication passes: its
workers fire no ordinary triggers.
"""

import time
from collections.abc import Iterator

import structlog
from django.db import DatabaseError, OperationalError, transaction
from psycopg.errors import LockNotAvailable

from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves.errors import MoveLost, MoveStuck
from operations.moves.tables import MovedTable, list_moved_tables
from operations.moves.types import MoveRef

# As in functions.sql.
LOCK_SPACE = 1836021349
# A writer may wait so long for a trigger that is being made, or behind a fence that waits itself.
LOCK_MS = 300
PAUSE_S, MOST_ATTEMPTS = 1.0, 60
# A fence whose process died opens again after this time.
FENCE_S = 10

ADD = """
INSERT INTO moves_guard (move, token, closed_until) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""
CLAIM = "UPDATE moves_guard SET token = %s WHERE move = %s AND token <= %s"
SET = "UPDATE moves_guard SET closed_until = {until} WHERE move = %s AND token = %s"
CLOSE_FOR_A_WHILE = SET.format(until=f"clock_timestamp() + interval '{FENCE_S} s'")
KEEP_CLOSED = SET.format(until="'infinity'") + " AND closed_until > clock_timestamp()"
CLOSE, OPEN = SET.format(until="'infinity'"), SET.format(until="'-infinity'")
IS_MINE = "SELECT 1 FROM moves_guard WHERE move = %s AND token = %s FOR SHARE"
HAS_GUARD = "SELECT 1 FROM moves_guard WHERE move = %s"
IS_CLOSED = HAS_GUARD + " AND closed_until > clock_timestamp()"
TRIGGERS = """
SELECT tgrelid::regclass::text, tgname FROM pg_trigger
WHERE tgname = ANY(%s::text[]) AND tgparentid = 0
"""
EVENTS = (("written", "INSERT OR UPDATE", "NEW"), ("deleted", "DELETE", "OLD"))
# Who keeps others waiting: sessions in old transactions.
OLDEST = """
SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::int, left(query, 60)
FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()
    AND backend_type = 'client backend' AND datname = current_database()
ORDER BY xact_start LIMIT 3
"""
log = structlog.get_logger()


def add_guards(ref: MoveRef) -> Iterator[str]:
    """Makes the guards of both shards. Safety: idempotent. Cost: two triggers a table and shard."""
    for alias, until in ((ref.target, "infinity"), (ref.source, "-infinity")):
        execute(alias, ADD, (ref.id, ref.token, until))
        made = {*_list_triggers(ref, alias)}
        for table in list_moved_tables():
            for what, events, row in EVENTS:
                if (table.name, _name(ref, what)) not in made:
                    run_soon(alias, _trigger(ref, table, what, events, row))
        yield f"{alias} has its guards"


def drop_guards(ref: MoveRef, alias: str) -> None:
    """Triggers first: without its row a guard refuses all."""
    for table, name in _list_triggers(ref, alias):
        run_soon(alias, f"DROP TRIGGER IF EXISTS {name} ON {table}")
    execute(alias, "DELETE FROM moves_guard WHERE move = %s", (ref.id,))
    execute(alias, "DELETE FROM moves_mark WHERE move = %s", (ref.id,))


def claim_guard(ref: MoveRef, alias: str) -> None:
    """From now on only this process opens and closes the guard. Raises: MoveLost."""
    is_claimed = execute(alias, CLAIM, (ref.token, ref.id, ref.token))
    if not is_claimed and has_guard(ref, alias):
        raise MoveLost(f"another process has taken over move {ref.id}")


def has_guard(ref: MoveRef, alias: str) -> bool:
    return fetch_one(alias, HAS_GUARD, (ref.id,)) is not None


def is_closed(move_id: int, alias: str) -> bool:
    return fetch_one(alias, IS_CLOSED, (move_id,)) is not None


def require_mine(ref: MoveRef, alias: str) -> None:
    """In a transaction that changes rows under the guard. Raises: MoveLost."""
    if fetch_one(alias, IS_MINE, (ref.id, ref.token)) is None:
        raise MoveLost(f"move {ref.id} is not of this process on {alias}")


def close_source(ref: MoveRef, statement: str) -> None:
    """Waits for the writers of the moved rows, and refuses new ones. `statement`:
    CLOSE_FOR_A_WHILE; then KEEP_CLOSED, which a writer who comes when the time ends sees done or
    failed, but never half.

    Raises: MoveStuck if a writer does not end; MoveLost. It keeps others waiting for LOCK_MS at a
    time.
    """
    for _ in range(MOST_ATTEMPTS):
        try:
            with transaction.atomic(using=ref.source):
                execute(ref.source, f"SET LOCAL lock_timeout = {LOCK_MS}")
                lock = "SELECT pg_advisory_xact_lock(%s, %s)"
                fetch_one(ref.source, lock, (LOCK_SPACE, ref.id))
                set_guard(ref, ref.source, statement)
            return
        except OperationalError as error:
            _require_lock_timeout(error)
        time.sleep(PAUSE_S)
    raise MoveStuck(f"{ref.source} has long transactions: {who_holds(ref.source)}")


def set_guard(ref: MoveRef, alias: str, statement: str) -> None:
    """`statement`: CLOSE or OPEN. Raises: MoveLost."""
    if not execute(alias, statement, (ref.id, ref.token)):
        raise MoveLost(f"the guard of move {ref.id} on {alias} was not as this process left it")


def run_soon(alias: str, statement: str) -> None:
    """Runs a statement that locks a table. Writers wait behind it for LOCK_MS at a time.

    Raises: MoveStuck if the table stays locked.
    """
    for _ in range(MOST_ATTEMPTS):
        try:
            with transaction.atomic(using=alias):
                execute(alias, f"SET LOCAL lock_timeout = {LOCK_MS}")
                execute(alias, statement)
            return
        except DatabaseError as error:
            _require_lock_timeout(error)
            log.info("move.lock_awaited", alias=alias, statement=statement[:80])
        time.sleep(PAUSE_S)
    raise MoveStuck(f"{alias} did not give a lock for {statement[:60]}: {who_holds(alias)}")


def who_holds(alias: str) -> str:
    """The oldest transactions of a database, in words."""
    rows = fetch_all(alias, OLDEST)
    return (
        "; ".join(f"process {pid} for {age} s: {query}" for pid, age, query in rows) or "no process"
    )


def _require_lock_timeout(error: Exception) -> None:
    if not isinstance(error.__cause__, LockNotAvailable):
        raise error


def _list_triggers(ref: MoveRef, alias: str) -> list[tuple[str, str]]:
    names = [_name(ref, what) for what, _, _ in EVENTS]
    return [(table, name) for table, name in fetch_all(alias, TRIGGERS, (names,))]


def _trigger(ref: MoveRef, table: MovedTable, what: str, events: str, row: str) -> str:
    condition = ref.buckets.condition(f"{row}.{table.owner}")
    return (
        f"CREATE TRIGGER {_name(ref, what)} BEFORE {events} ON {table.name} FOR EACH ROW"
        f" WHEN ({condition}) EXECUTE FUNCTION moves_refuse_if_closed('{ref.id}')"
    )


def _name(ref: MoveRef, what: str) -> str:
    return f"tideline_move_{ref.id}_{what}"
