"""The connection of this process to Cassandra. Each wait for an answer has a limit.

The driver has threads of its own, and answers each request within the limit, with an error if it
must. Nodes that are down are tried again in the background.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, NamedTuple

from cassandra import ConsistencyLevel, DriverException, ProtocolVersion
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    ResponseFuture,
    Session,
)
from cassandra.connection import ConnectionException
from cassandra.policies import (
    ConstantReconnectionPolicy,
    DCAwareRoundRobinPolicy,
    LoadBalancingPolicy,
    TokenAwarePolicy,
)
from cassandra.protocol import ErrorMessage
from cassandra.query import BatchStatement, BatchType, PreparedStatement, tuple_factory

from timelines.stores.cassandra_breaker import CassandraAway, CassandraBreaker
from timelines.stores.cassandra_url import CassandraServers

# Statements of a batch, and requests under way.
BATCH_SIZE = 50
WINDOW = 16
RECONNECT_S = 1.0
# Else the first push of a new process would give up timelines.
FIRST_CONNECTION_S = 2.0
# What the driver raises. TimeoutError: the connection is not there yet.
ERRORS = (DriverException, NoHostAvailable, ConnectionException, ErrorMessage, TimeoutError)
# The driver logs each attempt to reach each node. The breaker says it once.
logging.getLogger("cassandra").setLevel(logging.CRITICAL)
Params = Sequence[Any]
Rows = list[tuple[Any, ...]]


class _Connection(NamedTuple):
    session: Session
    prepared: Mapping[str, PreparedStatement]


class CassandraSession:
    """Runs these statements. Any thread may use it. Raises in all methods: CassandraAway.

    It connects on a thread of its own. Callers wait for the first connection a little longer than
    for an answer.
    """

    def __init__(
        self, servers: CassandraServers, timeout_s: float, statements: Sequence[str]
    ) -> None:
        self._servers, self._timeout_s, self._statements = servers, timeout_s, statements
        self._first_s = max(timeout_s, FIRST_CONNECTION_S)
        self._breaker, self._connecting = CassandraBreaker(), threading.Lock()
        self._connection = _start(self._connect)

    def fetch(self, cql: str, params: Iterable[Params]) -> list[Rows]:
        """The rows of the same query with each of the parameters."""
        return self._run(lambda prepared: (prepared[cql].bind(values) for values in params))

    def write(self, cql: str, params: Iterable[Params]) -> None:
        """Runs the same statement with each of the parameters, BATCH_SIZE in a request.

        If it raises, each may have been done or not, or may be done later.
        """
        rows = iter(params)
        batches = iter(lambda: list(islice(rows, BATCH_SIZE)), [])
        self._run(lambda prepared: (_batch(prepared[cql], batch) for batch in batches))

    def _run(self, make: Callable[[Mapping[str, PreparedStatement]], Iterable[Any]]) -> list[Rows]:
        self._breaker.check()
        try:
            session, prepared = self._find_connection().result(self._first_s)
            answers = [answer.result().all() for answer in _begin(session, make(prepared))]
        except ERRORS as error:
            self._breaker.note_failure(error)
            raise CassandraAway(f"Cassandra: {error}") from error
        self._breaker.note_answer()
        return answers

    def _find_connection(self) -> "Future[_Connection]":
        """A new attempt if the last one failed. The driver keeps a connection alive by itself."""
        with self._connecting:
            if self._connection.done() and self._connection.exception():
                self._connection = _start(self._connect)
            return self._connection

    def _connect(self) -> _Connection:
        policy = TokenAwarePolicy(DCAwareRoundRobinPolicy(self._servers.datacenter))
        cluster = open_cluster(self._servers, self._timeout_s, policy)
        try:
            session = cluster.connect(self._servers.keyspace)
            return _Connection(session, {cql: session.prepare(cql) for cql in self._statements})
        except BaseException:
            cluster.shutdown()
            raise


def open_cluster(
    servers: CassandraServers, timeout_s: float, policy: LoadBalancingPolicy
) -> Cluster:
    """Not connected yet. Call its `shutdown`, also when it cannot connect: it has threads."""
    login = PlainTextAuthProvider(servers.user, servers.password) if servers.user else None
    profile = ExecutionProfile(
        load_balancing_policy=policy,
        consistency_level=ConsistencyLevel.LOCAL_QUORUM,
        request_timeout=timeout_s,
        row_factory=tuple_factory,
    )
    return Cluster(
        servers.hosts,
        servers.port,
        auth_provider=login,
        protocol_version=ProtocolVersion.V5,  # of Cassandra 4.0
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        reconnection_policy=ConstantReconnectionPolicy(RECONNECT_S, None),
        connect_timeout=timeout_s,
        control_connection_timeout=timeout_s,
    )


def _begin(session: Session, statements: Iterable[Any]) -> Iterator[ResponseFuture]:
    """The answers in order, some of which are under way. At most WINDOW are."""
    under_way: deque[ResponseFuture] = deque()
    for statement in statements:
        if len(under_way) == WINDOW:
            yield under_way.popleft()
        under_way.append(session.execute_async(statement))
    yield from under_way


def _batch(prepared: PreparedStatement, rows: Sequence[Params]) -> BatchStatement:
    """Not logged: a timeline with a row that failed is given up."""
    batch = BatchStatement(BatchType.UNLOGGED)
    for values in rows:
        batch.add(prepared, values)
    return batch


def _start(connect: Callable[[], _Connection]) -> "Future[_Connection]":
    future: Future[_Connection] = Future()
    threading.Thread(target=_settle, args=(future, connect), daemon=True).start()
    return future


def _settle(future: "Future[_Connection]", connect: Callable[[], _Connection]) -> None:
    try:
        future.set_result(connect())
    except Exception as error:  # callers handle it
        future.set_exception(error)
