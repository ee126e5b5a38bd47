"""Looks whether Cassandra is as CassandraStore needs it."""

from datetime import timedelta

from cassandra.cluster import Cluster
from cassandra.policies import RoundRobinPolicy

from timelines.stores.cassandra_session import ERRORS, open_cluster
from timelines.stores.cassandra_url import CassandraServers

TABLE = "timelines_entry"
# Name, kind, place in the key, order, type.
COLUMNS = {
    ("reader_id", "partition_key", 0, "none", "bigint"),
    ("build", "partition_key", 1, "none", "bigint"),
    ("event", "clustering", 0, "desc", "blob"),
    ("shown", "regular", -1, "none", "blob"),
}
KEYSPACES = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = %s"
TABLES = """
SELECT default_time_to_live FROM system_schema.tables WHERE keyspace_name = %s AND table_name = %s
"""
DESCRIBED = """
SELECT column_name, kind, position, clustering_order, type FROM system_schema.columns
WHERE keyspace_name = %s AND table_name = %s
"""
# Whole weeks are read (weeks.py), and a day for clocks that differ and processes that pause.
BEYOND = timedelta(days=8)


def find_problem(servers: CassandraServers, timeout_s: float, cold_days: int) -> str | None:
    """What is wrong, as a sentence. Cost: a connection and three queries."""
    cluster = open_cluster(servers, timeout_s, RoundRobinPolicy())
    try:
        return _find_problem(cluster, servers, timedelta(days=cold_days) + BEYOND)
    except ERRORS as error:
        return f"It cannot be used: {error}"
    finally:
        cluster.shutdown()


def _find_problem(cluster: Cluster, servers: CassandraServers, kept: timedelta) -> str | None:
    session, place = cluster.connect(), (servers.keyspace, TABLE)
    centers = {host.datacenter for host in cluster.metadata.all_hosts()}
    if servers.datacenter not in centers:
        return f"It has no data center {servers.datacenter}, but {', '.join(sorted(centers))}"
    if not session.execute(KEYSPACES, place[:1]).all():
        return f"It has no keyspace {servers.keyspace}"
    tables = session.execute(TABLES, place).all()
    if not tables:
        return f"Its keyspace {servers.keyspace} has no table {TABLE}"
    if {*session.execute(DESCRIBED, place)} != COLUMNS:
        return f"Its table {TABLE} has other columns"
    kept_s = int(kept.total_seconds())
    if tables[0][0] < kept_s:  # 0: for ever
        return f"The default_time_to_live of its table is {tables[0][0]}, and must be {kept_s}"
    return None
