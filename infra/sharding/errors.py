"""Errors in the choice of a database."""

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError

from infra.store_states import StoreState


class ShardNotChosen(RuntimeError):
    """A sharded model was queried without `.on(alias)` or `.of(owner_id)`."""


class WrongShard(RuntimeError):
    """A row was about to be written to a shard that does not own it."""


class WrongPlacement(DatabaseError):
    """A statement names a table that is not on this connection's database."""


class ReplicaIsReadOnly(WrongPlacement):
    """A statement other than a plain read was sent to a replica."""


class ReplicaFailed(RuntimeError):
    """A replica did not answer a read. Ask the shard."""


class ReplicaMisconfigured(RuntimeError):
    """The database that SHARD_REPLICA_URLS names for a shard is not a replica of this shard."""


class DatabaseUnusable(OperationalError):
    """This process must not use a database that answers. Requests for its rows are 503."""

    store_state = StoreState.UNUSABLE


class WrongDatabase(DatabaseUnusable):
    """The database is another one than its setting means: swapped, shifted or foreign."""


class PoolUnfit(DatabaseUnusable):
    """The pool of a database, or the role that it uses there, cannot serve web servers."""


class SessionStateRefused(RuntimeError):
    """A statement would change a session, and the next transaction has another one."""


class SchemaMissing(DatabaseUnusable):
    """The database lacks its identity or a migration of this code: run migrate_shards."""


class UnmappedBucket(DatabaseUnusable):
    """The bucket map is empty (run migrate_shards) or names a shard that the settings lack."""


class DatabaseHangs(psycopg.OperationalError):
    """The database did not answer a moment ago. Django raises it as an OperationalError."""

    store_state = StoreState.HANGS


class RequestTooLong(psycopg.OperationalError):
    """A read has used its time up (infra/deadline.py), and must not begin another wait."""


class AnswerTooLate(psycopg.OperationalError):
    """The answer did not come in time. A write may have been done or not."""

    store_state = StoreState.HANGS


class NotReplicated(psycopg.OperationalError):
    """The write is committed on this server alone: its wait for a standby was cancelled.

    A failover would lose it, so it is not acknowledged. Who repeats it waits for the standby.
    """


# A database that is down, that hangs, or that gave a statement up.
NO_ANSWER = (OperationalError, InterfaceError)
