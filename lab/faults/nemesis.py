"""Faults that are more than a signal: of the data in Redis, and of sessions of PostgreSQL."""

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from lab.faults.cluster.cluster import Cluster
from lab.faults.cluster.redis_refusals import refusing_writes

_SCAN_COUNT = 1_000
_ANSWER_S = 0.1
_UNREADABLE = b"\xffunreadable"


class Nemesis:
    """It reaches the stores past the proxy."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def flush(self) -> int:
        """Returns how many keys there were."""
        with self._redis() as redis:
            count = int(redis.dbsize())
            redis.flushall()
            return count

    def evict_keys(self, rng: random.Random, share: float) -> int:
        """Deletes a share of all keys, as eviction would. Returns how many."""
        with self._redis() as redis:
            keys = [key for key in redis.scan_iter(count=_SCAN_COUNT) if rng.random() < share]
            return int(redis.delete(*keys)) if keys else 0

    def spoil_values(self, rng: random.Random, share: float) -> int:
        """Overwrites a share of all strings and fields of hashes. Returns how many."""
        with self._redis() as redis:
            keys = [key for key in redis.scan_iter(count=_SCAN_COUNT) if rng.random() < share]
            return sum(_spoil(redis, key) for key in keys)

    def configure_redis(self, **settings: str) -> None:
        with self._redis() as redis:
            for name, value in settings.items():
                redis.config_set(name.replace("_", "-"), value)

    def refusing_writes(self, way: str) -> AbstractContextManager[None]:
        """In the block Redis answers reads and refuses writes. Raises RuntimeError if it does not.

        `way`: of REFUSALS.
        """
        return refusing_writes(self._socket(), way)

    def count_evicted(self) -> int:
        """Keys that Redis has evicted since its start."""
        with self._redis() as redis:
            return int(redis.info("stats")["evicted_keys"])

    def refuses_writes(self) -> bool:
        """Whether Redis refuses a write, or does not answer it."""
        with self._redis(socket_timeout=_ANSWER_S, retry=Retry(NoBackoff(), 0)) as redis:
            try:
                redis.set("nemesis", 1)
            except RedisError:
                return True
            return False

    def mark_redis(self) -> None:
        """Writes a key that no older dump has."""
        with self._redis() as redis:
            redis.set("nemesis.mark", 1)

    def has_mark(self) -> bool:
        with self._redis() as redis:
            return bool(redis.exists("nemesis.mark"))

    def redis_bytes(self) -> int:
        with self._redis() as redis:
            return int(redis.info("memory")["used_memory"])

    def save_dump(self) -> bytes:
        """The data of Redis now."""
        with self._redis() as redis:
            redis.save()
        dump = self._dump()
        try:
            return dump.read_bytes()
        finally:
            dump.unlink()

    def restart_redis_with(self, data: bytes) -> None:
        """Redis dies and comes back with these data."""
        self._cluster.kill_store("redis")
        self._dump().write_bytes(data)
        try:
            self._cluster.revive_store("redis")
        finally:
            self._dump().unlink()

    def terminate_sessions(self, store: str) -> int:
        """Ends all sessions of one database, as an administrator or a failover does."""
        with self._session(store) as session:
            rows = session.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
        return int(rows[0][0])

    @contextmanager
    def open_transaction(self, store: str) -> Iterator[None]:
        """A transaction with an id, idle during the block."""
        with self._session(store) as session:
            session.execute("BEGIN")
            session.execute("SELECT txid_current()")
            yield
            session.execute("ROLLBACK")

    def has_open_transaction(self, store: str) -> bool:
        """Whether one with an id is idle."""
        with self._session(store) as session:
            rows = session.execute(
                "SELECT 1 FROM pg_stat_activity"
                " WHERE state = 'idle in transaction' AND backend_xid IS NOT NULL"
            ).fetchall()
        return bool(rows)

    def count_sessions(self, store: str) -> int:
        """Sessions of Tideline's processes."""
        with self._session(store) as session:
            rows = session.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
        return int(rows[0][0])

    def switch_log(self, store: str) -> None:
        """Begins a new file of the write-ahead log."""
        with self._session(store) as session:
            session.execute("SELECT pg_switch_wal()")
            session.execute("CHECKPOINT")

    def count_transactions(self) -> int:
        """Transactions of all databases until now."""
        total = 0
        for store in self._cluster.services.postgres:
            with self._session(store) as session:
                rows = session.execute(
                    "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database"
                ).fetchall()
                total += int(rows[0][0])
        return total

    def _dump(self) -> Path:
        return self._socket().with_name("dump.rdb")

    def _socket(self) -> Path:
        return Path(urlsplit(self._cluster.stores["redis"].url).path)

    @contextmanager
    def _redis(self, **options: Any) -> Iterator["Redis"]:
        with Redis(unix_socket_path=str(self._socket()), **options) as redis:
            yield redis

    @contextmanager
    def _session(self, store: str) -> Iterator["psycopg.Connection[tuple[Any, ...]]"]:
        with psycopg.connect(self._cluster.stores[store].url, autocommit=True) as session:
            yield session


def _spoil(redis: "Redis", key: bytes) -> int:
    match redis.type(key):
        case b"string":
            redis.set(key, _UNREADABLE, keepttl=True, xx=True)
        case b"hash" if fields := redis.hkeys(key):
            redis.hset(key, mapping=dict.fromkeys(fields, _UNREADABLE))
        case _:
            return 0
    return 1
