"""The stream of a move: publication and slot on the source, subscription on the target.

Only one direction flows at a time, so no change comes back to where it was made.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

from django.db import DatabaseError, connections
from psycopg.conninfo import make_conninfo
from psycopg.errors import ObjectInUse, UndefinedObject

from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves.errors import MoveStuck
from operations.moves.guard import run_soon, who_holds
from operations.moves.tables import list_moved_tables
from operations.moves.types import MoveRef

# For a walsender to leave a slot whose subscription has ended.
RELEASE_S = 20.0
PUBLISHED = """
SELECT rel.prrelid::regclass::text FROM pg_publication_rel AS rel
JOIN pg_publication AS publication ON publication.oid = rel.prpubid WHERE publication.pubname = %s
"""
SLOT = """
SELECT active_pid, wal_status, pg_current_wal_lsn() - confirmed_flush_lsn AS behind
FROM pg_replication_slots WHERE slot_name = %s
"""
SLOTS_LIKE = "SELECT slot_name FROM pg_replication_slots WHERE slot_name LIKE %s"
SUBSCRIPTION = "SELECT oid FROM pg_subscription WHERE subname = %s"
STATES = (
    "SELECT srrelid::regclass::text, srsubstate::text FROM pg_subscription_rel WHERE srsubid = %s"
)
COPYING = "SELECT coalesce(sum(tuples_processed), 0) FROM pg_stat_progress_copy WHERE relid <> 0"
# By the slots through which tables are copied, whose sessions have their names. A table of which
# few rows move is read for long without a row.
READING = """
SELECT (SELECT coalesce(max(confirmed_flush_lsn), '0/0')::text FROM pg_replication_slots
    WHERE slot_name LIKE %s), EXISTS (
    SELECT FROM pg_stat_activity WHERE application_name LIKE %s AND state = 'active'
        AND query LIKE 'COPY %%' AND coalesce(wait_event_type, '') NOT IN ('Client', 'Lock'))
"""
# The target would wait for hours for a source that is gone without a word while it copies.
KEEPALIVES = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
CREATE_SLOT = "SELECT pg_create_logical_replication_slot(%s, 'pgoutput')"


class StreamState(NamedTuple):
    """`waiting`: the tables that are not yet up to date, with their states by PostgreSQL.
    `behind_bytes`: of log, on the source."""

    waiting: dict[str, str]
    copying_rows: int
    behind_bytes: int


def publish(ref: MoveRef) -> Iterator[str]:
    """Publishes the moved rows, table by table. Safety: idempotent."""
    if not fetch_one(ref.source, "SELECT 1 FROM pg_publication WHERE pubname = %s", (ref.stream,)):
        options = "publish = 'insert, update, delete', publish_via_partition_root = true"
        execute(ref.source, f"CREATE PUBLICATION {ref.stream} WITH ({options})")
    done = {name for (name,) in fetch_all(ref.source, PUBLISHED, (ref.stream,))}
    wanted = {table.name: ref.buckets.condition(table.owner) for table in list_moved_tables()}
    wanted["moves_mark"] = f"(move = {ref.id})"
    for name, condition in wanted.items():
        if name not in done:
            add = f"ALTER PUBLICATION {ref.stream} ADD TABLE {name} WHERE ({condition})"
            run_soon(ref.source, add)
    yield f"{ref.source} publishes {len(wanted) - 1} tables"


def create_slot(ref: MoveRef) -> None:
    """From here on the source keeps its log for the target. Safety: idempotent.

    Raises: MoveStuck while a transaction from before does not end.
    """
    if fetch_one(ref.source, SLOT, (ref.stream,)) is None:
        # It waits for all transactions of the server, as long as a statement may take.
        try:
            fetch_one(ref.source, CREATE_SLOT, (ref.stream,))
        except Exception as error:
            who = who_holds(ref.source)
            raise MoveStuck(f"{ref.source} made no slot: {error}; it waits for {who}") from error


def subscribe(ref: MoveRef, copy: bool) -> None:
    """The target applies what the slot of the source has. `copy`: it copies all rows before.

    What it has copied is on its disk before the source forgets it: else a target that is killed
    would wait for slots that are gone. No error ends a subscription, because the end of a server
    is one. Safety: idempotent.
    """
    if fetch_one(ref.target, SUBSCRIPTION, (ref.stream,)) is None:
        options = (
            f"create_slot = false, slot_name = '{ref.stream}', copy_data = {copy},"
            f" streaming = off, synchronous_commit = {_commit(copy)}"
        )
        execute(
            ref.target,
            f"CREATE SUBSCRIPTION {ref.stream} CONNECTION '{_quoted(_conninfo(ref.source))}'"
            f" PUBLICATION {ref.stream} WITH ({options})",
        )


def end_copying(ref: MoveRef) -> None:
    """The target applies changes without a wait for its disk. Safety: idempotent."""
    execute(
        ref.target, f"ALTER SUBSCRIPTION {ref.stream} SET (synchronous_commit = {_commit(False)})"
    )


def read_stream(ref: MoveRef) -> StreamState:
    """How far the stream is. Raises: MoveStuck if it cannot go on. Four short queries."""
    subscription = fetch_one(ref.target, SUBSCRIPTION, (ref.stream,))
    slot = fetch_one(ref.source, SLOT, (ref.stream,))
    if subscription is None or slot is None:
        raise MoveStuck(f"the stream of move {ref.id} is gone: abort it")
    if slot[1] == "lost":
        raise MoveStuck(f"{ref.source} has dropped log that {ref.target} needs: abort the move")
    states = fetch_all(ref.target, STATES, (subscription[0],))
    copying = fetch_one(ref.target, COPYING)
    waiting = {name: state for name, state in states if state != "r"}
    return StreamState(waiting, int(copying[0]) if copying else 0, int(slot[2]))


def read_copying(alias: str, pattern: str) -> tuple[str, bool]:
    """How far the tables are that catch up, and whether the source reads one to copy it. One query.

    `pattern`: as below.
    """
    position, is_reading = fetch_one(alias, READING, (pattern, pattern)) or ("", False)
    return position, is_reading


def name_copying_slots(ref: MoveRef) -> str:
    """A pattern of the slots on the source by which the target copies tables. One query."""
    sql = """
    SELECT 'pg_' || sub.oid || '_sync_%%_' || control.system_identifier
    FROM pg_subscription AS sub, pg_control_system() AS control WHERE subname = %s
    """
    row = fetch_one(ref.target, sql, (ref.stream,))
    return str(row[0]) if row else ""


def drop_copying_slots(alias: str, pattern: str) -> None:
    """Those that are left when the target hangs while it copies. Safety: idempotent."""
    for (name,) in fetch_all(alias, SLOTS_LIKE, (pattern,)):
        _drop_slot(alias, name)


def stop_applying(ref: MoveRef) -> None:
    """Drops the subscription. Safety: idempotent."""
    if fetch_one(ref.target, SUBSCRIPTION, (ref.stream,)) is not None:
        execute(ref.target, f"ALTER SUBSCRIPTION {ref.stream} DISABLE")
        execute(ref.target, f"ALTER SUBSCRIPTION {ref.stream} SET (slot_name = NONE)")
        execute(ref.target, f"DROP SUBSCRIPTION {ref.stream}")


def stop_sending(ref: MoveRef) -> None:
    """Drops slot and publication, so that the source keeps no log. Safety: idempotent.

    It does not need the target.
    """
    _drop_slot(ref.source, ref.stream)
    execute(ref.source, f"DROP PUBLICATION IF EXISTS {ref.stream}")


def _drop_slot(alias: str, name: str) -> None:
    """Ends the process that sends from it, which a subscription may start again at once."""
    ends_at = time.monotonic() + RELEASE_S
    while (slot := fetch_one(alias, SLOT, (name,))) is not None:
        fetch_one(alias, "SELECT pg_terminate_backend(%s)", (slot[0],))
        try:
            fetch_one(alias, "SELECT pg_drop_replication_slot(%s)", (name,))
        except DatabaseError as error:
            # The target also drops those by which it has copied.
            is_passing = isinstance(error.__cause__, ObjectInUse | UndefinedObject)
            if not is_passing or time.monotonic() > ends_at:
                raise
            time.sleep(0.02)


def skip_to_now(ref: MoveRef) -> None:
    """The slot begins now: what the source has applied until now is not sent back.

    Call it after a commit that waited for the disk: a slot cannot pass what is not yet there.
    """
    advance = "SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())"
    fetch_one(ref.source, advance, (ref.stream,))


def _commit(copy: bool) -> str:
    return "local" if copy else "off"


def _conninfo(alias: str) -> str:
    """As this process connects. The other server must reach the address, too."""
    own = connections[alias].settings_dict
    parts = {
        "host": own["HOST"],
        "port": own["PORT"],
        "dbname": own["NAME"],
        "user": own["USER"],
        "password": own["PASSWORD"],
    }
    options = own.get("OPTIONS", {})
    tls = {name: options[name] for name in options if str(name).startswith("ssl")}
    named = {name: str(text) for name, text in (parts | tls).items() if text}
    return make_conninfo(**named, **KEEPALIVES)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
