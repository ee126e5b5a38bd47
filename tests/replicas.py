"""What tests do to real streaming replicas: hold them back, and let them come up to their shard."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from infra.sharding.placement import shard_behind
from infra.sharding.replica import Replica, read_log_position
from infra.sharding.replicas import replicas_of
from lab.services.postgres import PostgresServer
from tests.replica_servers import ReplicaServer, ReplicatedServices
from tests.waiting import until

PAUSED = "SELECT pg_get_wal_replay_pause_state() = 'paused'"
SYNCHRONOUS = "SELECT sync_state FROM pg_stat_replication"
REPLAYED = "SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint"


def ask(server: ReplicaServer, sql: str) -> object:
    with psycopg.connect(server.url, autocommit=True) as connection:
        return connection.execute(sql).fetchone()[0]


def wait_for_standbys(primary: PostgresServer, names: str) -> None:
    """Commits on this server wait for these standbys from now on; "": for none, "*": for any."""
    with psycopg.connect(primary.url, autocommit=True) as session:
        session.execute("SET synchronous_commit = local")
        session.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        session.execute("SELECT pg_reload_conf()")
        if names:
            until(lambda: session.execute(SYNCHRONOUS).fetchall() == [("sync",)])


def catch_replicas_up(services: ReplicatedServices) -> None:
    """Every replica has what its shard has by now, and this process knows that it is well."""
    for alias, server in services.replicas.items():
        written = read_log_position(shard_behind(alias)).log
        until(lambda s=server, w=written: ask(s, REPLAYED) >= w)
        until(replica_named(alias).check)


def replica_named(alias: str) -> Replica:
    """What this process knows of the replica `shard0_replica0`."""
    [found] = [one for one in replicas_of(shard_behind(alias)).all if one.alias == alias]
    return found


def first_replica(shard: str) -> Replica:
    return replicas_of(shard).all[0]


@contextmanager
def held_back(server: ReplicaServer) -> Iterator[None]:
    """It receives what is written and shows none of it."""
    ask(server, "SELECT pg_wal_replay_pause()")
    until(lambda: ask(server, PAUSED))
    try:
        yield
    finally:
        ask(server, "SELECT pg_wal_replay_resume()")
